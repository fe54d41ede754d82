#include "planner/plan.h"

#include <stdlib.h>

#include "planner/alloc.h"
#include "planner/stages.h"

struct span { /* bytes of the arena that are a stage's own */
    int64_t begin, end;
};

static void widen(struct span *s, int64_t begin, int64_t end)
{
    if (s->end == 0 || begin < s->begin) s->begin = begin;
    if (end > s->end) s->end = end;
}

static void find_spans(const struct ig_plan *p, struct span *spans)
{
    for (int32_t v = 0; v < p->n_buffers; v++) {
        const struct ig_plan_buffer *b = &p->buffers[v];
        if (b->memory != IG_MEMORY_ARENA || b->alias_of >= 0) continue;
        widen(&spans[p->steps[b->first].stage], b->offset, b->offset + b->bytes);
    }
    for (int32_t i = 0; i < p->n_steps; i++) {
        const struct ig_plan_step *s = &p->steps[i];
        int64_t bytes = s->scratch_bytes * ig_scratch_threads(p, s);
        if (bytes) widen(&spans[s->stage], s->scratch_offset, s->scratch_offset + bytes);
    }
}

/* A stage's part is as large as the alternative that needs most has it. */
static void unite_stages(const struct ig_plan *p, struct ig_united *u)
{
    for (int32_t stage = 0; stage < p->n_stages; stage++) {
        int64_t most = 0;
        for (int32_t i = 0; i < u->n; i++) {
            struct span spans[IG_PLAN_STAGES] = {{0, 0}};
            find_spans(ig_alternative(p, i), spans);
            u->parts[i].shift[stage] = u->arena_bytes - spans[stage].begin;
            if (spans[stage].end - spans[stage].begin > most) most = spans[stage].end - spans[stage].begin;
        }
        u->arena_bytes += ig_slot_bytes(most);
    }
}

static int is_callers(const struct ig_plan *p, const struct ig_plan_slot *s)
{
    return s->from < 0 || s->to == p->n_stages;
}

static int32_t less(int32_t a, int32_t b)
{
    return a < b ? a : b;
}

/* The caller's slots keep their numbers; they last from the first stage that touches one in any alternative to the
 * last one. */
static void unite_callers(const struct ig_plan *p, struct ig_united *u)
{
    for (; u->n_slots < p->n_slots && is_callers(p, &p->slots[u->n_slots]); u->n_slots++) {
        struct ig_plan_slot *to = &u->slots[u->n_slots];
        *to = p->slots[u->n_slots];
        for (int32_t i = 0; i < u->n; i++) {
            const struct ig_plan_slot *s = &ig_alternative(p, i)->slots[u->n_slots];
            to->from = less(to->from, s->from);
            to->to = -less(-to->to, -s->to);
            u->parts[i].slot[u->n_slots] = u->n_slots;
        }
    }
}

/* The block of that pair of stages; a new one if there is none yet. */
static int32_t block_of(struct ig_united *u, int32_t callers, int32_t from, int32_t to)
{
    int32_t i = callers;
    while (i < u->n_slots && (u->slots[i].from != from || u->slots[i].to != to)) i++;
    if (i == u->n_slots) u->slots[u->n_slots++] = (struct ig_plan_slot){.value = -1, .from = from, .to = to};
    return i;
}

/* Offsets in a copy, for now. */
static void unite_blocks(const struct ig_plan *p, struct ig_united *u)
{
    int32_t callers = u->n_slots;
    for (int32_t i = 0; i < u->n; i++) {
        const struct ig_plan *a = ig_alternative(p, i);
        int64_t used[IG_PLAN_SLOTS] = {0};
        for (int32_t k = callers; k < a->n_slots; k++) {
            int32_t block = block_of(u, callers, a->slots[k].from, a->slots[k].to);
            u->parts[i].slot[k] = block;
            u->parts[i].offset[k] = used[block];
            used[block] += a->slots[k].bytes;
            if (used[block] > u->slots[block].bytes) u->slots[block].bytes = used[block];
        }
    }
}

static void place(const struct ig_plan *p, struct ig_united *u)
{
    for (int32_t k = 0; k < u->n_slots; k++) {
        struct ig_plan_slot *s = &u->slots[k];
        s->copies = 1;
        for (int32_t i = 0; i < u->n; i++)
            s->copies = -less(-s->copies, -ig_slot_copies(ig_alternative(p, i), s->from, s->to));
        s->offset = u->arena_bytes;
        u->arena_bytes += s->bytes * s->copies;
    }
    for (int32_t i = 0; i < u->n; i++)
        for (int32_t k = 0; k < ig_alternative(p, i)->n_slots; k++)
            u->parts[i].offset[k] += u->slots[u->parts[i].slot[k]].offset;
}

void ig_unite(const struct ig_plan *p, struct ig_united *u)
{
    *u = (struct ig_united){.n = 1 + p->n_others};
    u->parts = ig_must_alloc((size_t)u->n, sizeof *u->parts);
    unite_stages(p, u);
    unite_callers(p, u);
    unite_blocks(p, u);
    place(p, u);
}

void ig_united_free(struct ig_united *u)
{
    free(u->parts);
    u->parts = NULL;
}

int64_t ig_united_bytes(const struct ig_plan *p)
{
    struct ig_united u;
    if (!p->n_others) return p->arena_bytes;
    ig_unite(p, &u);
    ig_united_free(&u);
    return u.arena_bytes;
}
