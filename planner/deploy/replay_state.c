#include "planner/deploy/replay_state.h"

#include <stdlib.h>

#include "planner/alloc.h"

static int32_t *numbers(int64_t n)
{
    return ig_must_alloc((size_t)(n ? n : 1), sizeof(int32_t));
}

static struct ig_fleet_set set_of(int32_t n)
{
    return (struct ig_fleet_set){.at = numbers(n), .in = ig_must_alloc((size_t)(n ? n : 1), 1)};
}

/* Members 0..n - 1 by their owners, in order; an owner below 0 has none. */
static struct ig_fleet_lists by_owner(int32_t owners, const int32_t *owner, int32_t n)
{
    struct ig_fleet_lists l = {numbers((int64_t)owners + 2), numbers(n)};
    for (int32_t i = 0; i < n; i++)
        if (owner[i] >= 0) l.first[owner[i] + 2]++;
    for (int32_t i = 0; i < owners; i++) l.first[i + 2] += l.first[i + 1];
    for (int32_t i = 0; i < n; i++)
        if (owner[i] >= 0) l.at[l.first[owner[i] + 1]++] = i;
    return l;
}

static void index_all(struct ig_fleet_state *s)
{
    const struct ig_fleet *f = s->f;
    int32_t n = f->n_parts > f->n_messages ? f->n_parts : f->n_messages;
    int32_t *rank = numbers(n), *from = numbers(n), *to = numbers(n), *kept = numbers(n);
    for (int32_t i = 0; i < f->n_parts; i++) rank[i] = f->parts[i].rank;
    for (int32_t i = 0; i < f->n_messages; i++) {
        from[i] = kept[i] = ig_fleet_device(s, f->messages[i].from);
        to[i] = ig_fleet_device(s, f->messages[i].to);
        if (from[i] == to[i]) from[i] = to[i] = -1;
        else kept[i] = -1;
    }
    s->parts_of = by_owner(f->n_ranks, rank, f->n_parts);
    s->sent_by = by_owner(f->n_devices, from, f->n_messages);
    s->sent_to = by_owner(f->n_devices, to, f->n_messages);
    s->kept_by = by_owner(f->n_devices, kept, f->n_messages);
    if (f->machine) s->share = by_owner(f->n_devices, f->machine, f->n_ranks);
    free(rank);
    free(from);
    free(to);
    free(kept);
}

static void count_readers(struct ig_fleet_state *s)
{
    const struct ig_fleet *f = s->f;
    int32_t copies = 0, outputs = 0;
    for (int32_t b = 0; b < f->n_buffers; b++) {
        s->base[b] = copies;
        copies += f->buffers[b].copies;
        outputs += f->buffers[b].is_output;
        s->filler[b] = -1;
        if (f->buffers[b].writer == IG_FLEET_USER) s->inputs[s->n_inputs++] = b;
    }
    s->left = numbers(copies);
    for (int32_t i = 0; i < f->n_parts; i++)
        for (int32_t k = 0; k < f->parts[i].n_in; k++) s->readers[f->parts[i].in[k]]++;
    for (int32_t i = 0; i < f->n_messages; i++) {
        s->readers[f->messages[i].from]++;
        s->filler[f->messages[i].to] = i;
    }
    for (int32_t i = 0; i < s->frames; i++) s->outputs_left[i] = outputs;
}

void ig_fleet_state_start(struct ig_fleet_state *s)
{
    const struct ig_fleet *f = s->f;
    int32_t n = f->n_parts + f->n_messages;
    s->heap = ig_must_alloc((size_t)n + 1, sizeof *s->heap); /* each is under way once at most */
    s->place = numbers(n);
    s->begun = numbers(n);
    s->ended = numbers(n);
    int32_t **of_buffers[] = {&s->filled, &s->freed, &s->readers, &s->base, &s->filler, &s->inputs};
    for (size_t i = 0; i < sizeof of_buffers / sizeof *of_buffers; i++) *of_buffers[i] = numbers(f->n_buffers);
    s->outputs_left = numbers(s->frames);
    s->work = ig_must_alloc((size_t)f->n_ranks, sizeof *s->work);
    for (int32_t i = 0; i < f->n_ranks; i++) s->work[i] = (struct ig_fleet_work){.part = -1, .rate = IG_FLEET_CORE};
    s->sends = ig_must_alloc((size_t)f->n_devices, 1);
    s->receives = ig_must_alloc((size_t)f->n_devices, 1);
    s->ranks = set_of(f->n_ranks);
    s->devices = set_of(f->n_devices);
    index_all(s);
    count_readers(s);
}

void ig_fleet_state_free(struct ig_fleet_state *s)
{
    void *all[] = {s->heap, s->place, s->begun, s->ended, s->filled, s->freed, s->readers, s->base, s->left, s->filler, s->inputs,
                   s->outputs_left, s->work, s->sends, s->receives, s->ranks.at, s->ranks.in, s->devices.at,
                   s->devices.in, s->parts_of.first, s->parts_of.at, s->sent_by.first, s->sent_by.at, s->sent_to.first,
                   s->sent_to.at, s->kept_by.first, s->kept_by.at, s->share.first, s->share.at};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) free(all[i]);
}
