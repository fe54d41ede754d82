/* From owners and lives to bytes: the arena's owners are packed, everything else follows its owner. */
#include "planner/memory.h"

#include <stdlib.h>

#include "planner/alloc.h"
#include "planner/overlap.h"
#include "planner/stages.h"

static int owns_arena(const struct ig_storage *s, int32_t v)
{
    return s[v].owner == v && s[v].memory == IG_MEMORY_ARENA;
}

/* Of all threads. */
static int64_t scratch_of(const struct ig_plan *p, int32_t step)
{
    return p->steps[step].scratch_bytes * ig_scratch_threads(p, &p->steps[step]);
}

struct steps {
    int32_t first, last; /* inclusive */
};

static int owned_in(const struct ig_storage *s, int32_t v, struct steps of)
{
    return owns_arena(s, v) && of.first <= s[v].held_first && s[v].held_last <= of.last;
}

/* Most bytes held in any one of these steps, its scratch with them. */
static int64_t most_live(const struct ig_graph *g, const struct ig_plan *p, const struct ig_storage *s, struct steps of,
                         const struct ig_overlap *overlaps)
{
    int64_t *change = ig_must_alloc((size_t)g->n_nodes + 2, sizeof *change), live = 0, most = 0;
    for (int32_t v = 0; v < g->n_values; v++) {
        if (!owned_in(s, v, of)) continue;
        change[s[v].held_first] += ig_bytes(&g->values[v].shape);
        change[s[v].held_last + 1] -= ig_bytes(&g->values[v].shape);
    }
    for (int32_t i = of.first; i <= of.last; i++) {
        live += change[i];
        int64_t held = live + scratch_of(p, i) - ig_overlap_gain(overlaps, p, i);
        if (held > most) most = held;
    }
    free(change);
    return most;
}

/* The overlaps in these steps as pairs; item_of[n_values]: of what they hold. Returns how many. */
static int32_t list_pairs(const struct ig_plan *p, const struct ig_overlap *overlaps, struct steps of,
                          const int32_t *item_of, struct ig_pack_pair *pairs)
{
    int32_t n = 0;
    for (int32_t i = 0; i < p->n_bands; i++) {
        const struct ig_overlap *o = &overlaps[i];
        if (o->out < 0 || p->bands[i].first < of.first || p->bands[i].last > of.last) continue;
        if (item_of[o->out] >= 0 && item_of[o->in] >= 0)
            pairs[n++] = (struct ig_pack_pair){item_of[o->out], item_of[o->in], o->distance};
    }
    return n;
}

/* With those pairs, or where no proof stops the search for the least, without them, if that is less. Returns the height. */
static int64_t pack(struct ig_pack_item *items, int32_t n, const struct ig_pack_pair *pairs, int32_t n_pairs)
{
    struct ig_pack_result with = ig_pack_overlapping(items, n, pairs, n_pairs);
    if (!n_pairs || with.height == with.proven) return with.height;
    int64_t without = ig_pack_offsets(items, n).height;
    return without <= with.height ? without : ig_pack_overlapping(items, n, pairs, n_pairs).height;
}

/* Offsets of what these steps hold in the arena, from `base` on, into offsets[n_values], and of their scratch. Returns
 * the height. */
static int64_t pack_arena(const struct ig_graph *g, const struct ig_storage *s, struct ig_plan *p, struct steps of,
                          const struct ig_overlap *overlaps, int64_t base, int64_t *offsets)
{
    struct ig_pack_item *items = ig_must_alloc((size_t)(g->n_values + p->n_steps), sizeof *items);
    struct ig_pack_pair *pairs = ig_must_alloc((size_t)p->n_bands, sizeof *pairs);
    int32_t *item_of = ig_must_alloc((size_t)g->n_values, sizeof *item_of), n = 0;
    for (int32_t v = 0; v < g->n_values; v++) {
        item_of[v] = owned_in(s, v, of) ? n : -1;
        if (owned_in(s, v, of))
            items[n++] =
                (struct ig_pack_item){s[v].held_first, s[v].held_last + 1, ig_bytes(&g->values[v].shape), 0};
    }
    for (int32_t i = of.first; i <= of.last; i++)
        if (scratch_of(p, i)) items[n++] = (struct ig_pack_item){i, i + 1, scratch_of(p, i), 0};
    int64_t height = pack(items, n, pairs, list_pairs(p, overlaps, of, item_of, pairs));
    n = 0;
    for (int32_t v = 0; v < g->n_values; v++)
        if (owned_in(s, v, of)) offsets[v] = base + items[n++].offset;
    for (int32_t i = of.first; i <= of.last; i++)
        p->steps[i].scratch_offset = scratch_of(p, i) ? base + items[n++].offset : 0;
    free(items);
    free(pairs);
    free(item_of);
    return height;
}

static void fill_buffer(const struct ig_graph *g, const struct ig_view *view, const struct ig_storage *s,
                        int32_t v, int64_t owner_offset, struct ig_plan_buffer *b)
{
    const struct ig_storage *owner = &s[s[v].owner];
    int own = s[v].owner == v;
    *b = (struct ig_plan_buffer){.value = v, .memory = owner->memory, .index = owner->index, .view = *view};
    b->bytes = ig_bytes(&g->values[v].shape);
    b->offset = owner_offset + view->offset * ig_type_bytes(g->values[v].shape.type);
    b->first = own ? s[v].held_first : s[v].first;
    b->last = own ? s[v].held_last : s[v].last;
    b->alias_of = own ? -1 : s[v].owner;
}

/* One arena; or each stage's apart, as stages work at the same time, and the slots behind them. */
static void place_arena(const struct ig_graph *g, const struct ig_view *views, struct ig_storage *s, struct ig_plan *p,
                        int64_t *offsets)
{
    struct steps all = {0, p->n_steps - 1};
    struct ig_overlap *overlaps = ig_must_alloc((size_t)p->n_bands, sizeof *overlaps);
    if (p->n_stages) ig_find_slots(g, p, s);
    for (int32_t i = 0; i < p->n_bands; i++) overlaps[i] = ig_find_overlap(g, views, p, s, &p->bands[i]);
    if (!p->n_stages) {
        p->arena_bytes = pack_arena(g, s, p, all, overlaps, 0, offsets);
        p->arena_lower_bound_bytes = most_live(g, p, s, all, overlaps);
    }
    for (int32_t i = 0; i < p->n_stages; i++) {
        struct steps of = {p->stages[i].first, p->stages[i].last};
        p->arena_bytes += ig_slot_bytes(pack_arena(g, s, p, of, overlaps, p->arena_bytes, offsets));
        p->arena_lower_bound_bytes += ig_slot_bytes(most_live(g, p, s, of, overlaps));
    }
    if (p->n_stages) ig_place_slots(p);
    free(overlaps);
}

void ig_place_buffers(const struct ig_graph *g, const struct ig_view *views, struct ig_plan *p)
{
    size_t n = (size_t)g->n_values;
    struct ig_storage *s = ig_must_alloc(n, sizeof *s);
    int64_t *offsets = ig_must_alloc(n, sizeof *offsets);
    ig_find_storage(g, views, p, s);
    place_arena(g, views, s, p, offsets);
    p->n_buffers = g->n_values;
    p->buffers = ig_must_alloc(n, sizeof *p->buffers);
    for (int32_t v = 0; v < g->n_values; v++)
        fill_buffer(g, &views[v], s, v, offsets[s[v].owner], &p->buffers[v]);
    free(s);
    free(offsets);
}
