/* From owners and lives to bytes: the arena's owners are packed, everything else follows its owner. */
#include "planner/memory.h"

#include <stdlib.h>

#include "planner/alloc.h"
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
static int64_t most_live(const struct ig_graph *g, const struct ig_plan *p, const struct ig_storage *s, struct steps of)
{
    int64_t *change = ig_must_alloc((size_t)g->n_nodes + 2, sizeof *change), live = 0, most = 0;
    for (int32_t v = 0; v < g->n_values; v++) {
        if (!owned_in(s, v, of)) continue;
        change[s[v].held_first] += ig_bytes(&g->values[v].shape);
        change[s[v].held_last + 1] -= ig_bytes(&g->values[v].shape);
    }
    for (int32_t i = of.first; i <= of.last; i++) {
        live += change[i];
        int64_t held = live + scratch_of(p, i);
        if (held > most) most = held;
    }
    free(change);
    return most;
}

/* Offsets of what these steps hold in the arena, from `base` on, into offsets[n_values], and of their scratch. Returns
 * the height. */
static int64_t pack_arena(const struct ig_graph *g, const struct ig_storage *s, struct ig_plan *p, struct steps of,
                          int64_t base, int64_t *offsets)
{
    struct ig_pack_item *items = ig_must_alloc((size_t)(g->n_values + p->n_steps), sizeof *items);
    int32_t n = 0;
    for (int32_t v = 0; v < g->n_values; v++)
        if (owned_in(s, v, of))
            items[n++] =
                (struct ig_pack_item){s[v].held_first, s[v].held_last + 1, ig_bytes(&g->values[v].shape), 0};
    for (int32_t i = of.first; i <= of.last; i++)
        if (scratch_of(p, i)) items[n++] = (struct ig_pack_item){i, i + 1, scratch_of(p, i), 0};
    int64_t height = ig_pack_offsets(items, n).height;
    n = 0;
    for (int32_t v = 0; v < g->n_values; v++)
        if (owned_in(s, v, of)) offsets[v] = base + items[n++].offset;
    for (int32_t i = of.first; i <= of.last; i++)
        p->steps[i].scratch_offset = scratch_of(p, i) ? base + items[n++].offset : 0;
    free(items);
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
static void place_arena(const struct ig_graph *g, struct ig_storage *s, struct ig_plan *p, int64_t *offsets)
{
    struct steps all = {0, p->n_steps - 1};
    if (!p->n_stages) {
        p->arena_bytes = pack_arena(g, s, p, all, 0, offsets);
        p->arena_lower_bound_bytes = most_live(g, p, s, all);
        return;
    }
    ig_find_slots(g, p, s);
    for (int32_t i = 0; i < p->n_stages; i++) {
        struct steps of = {p->stages[i].first, p->stages[i].last};
        p->arena_bytes += ig_slot_bytes(pack_arena(g, s, p, of, p->arena_bytes, offsets));
        p->arena_lower_bound_bytes += ig_slot_bytes(most_live(g, p, s, of));
    }
    ig_place_slots(p);
}

void ig_place_buffers(const struct ig_graph *g, const struct ig_view *views, struct ig_plan *p)
{
    size_t n = (size_t)g->n_values;
    struct ig_storage *s = ig_must_alloc(n, sizeof *s);
    int64_t *offsets = ig_must_alloc(n, sizeof *offsets);
    ig_find_storage(g, views, p, s);
    place_arena(g, s, p, offsets);
    p->n_buffers = g->n_values;
    p->buffers = ig_must_alloc(n, sizeof *p->buffers);
    for (int32_t v = 0; v < g->n_values; v++)
        fill_buffer(g, &views[v], s, v, offsets[s[v].owner], &p->buffers[v]);
    free(s);
    free(offsets);
}
