#include "tests/support/stages.h"

#include <stdlib.h>

#include "planner/overlap.h"
#include "planner/share.h"

int32_t stage_items(const struct ig_plan *p, struct ig_pack_item *items)
{
    int32_t n = 0;
    for (int32_t v = 0; v < p->n_buffers; v++) {
        const struct ig_plan_buffer *b = &p->buffers[v];
        if (b->memory == IG_MEMORY_ARENA && b->alias_of < 0)
            items[n++] = (struct ig_pack_item){b->first, b->last + 1, b->bytes, 0};
    }
    for (int32_t i = 0; i < p->n_steps; i++)
        if (p->steps[i].scratch_bytes) items[n++] = (struct ig_pack_item){i, i + 1, p->steps[i].scratch_bytes, 0};
    return n;
}

static int owns_arena(const struct ig_plan_buffer *b)
{
    return b->memory == IG_MEMORY_ARENA && b->alias_of < 0;
}

int32_t stage_pairs(const struct ig_graph *g, const struct ig_plan *p, struct ig_pack_pair *pairs)
{
    struct ig_view *views = calloc((size_t)g->n_values + 1, sizeof *views);
    struct ig_storage *storage = calloc((size_t)g->n_values + 1, sizeof *storage);
    int32_t *item = calloc((size_t)g->n_values + 1, sizeof *item), n = 0;
    ig_compute_views(g, views);
    ig_find_storage(g, views, p, storage);
    for (int32_t v = 0, at = 0; v < p->n_buffers; v++) item[v] = owns_arena(&p->buffers[v]) ? at++ : -1;
    for (int32_t i = 0; i < p->n_bands; i++) {
        struct ig_overlap o = ig_find_overlap(g, views, p, storage, &p->bands[i]);
        if (o.out >= 0) pairs[n++] = (struct ig_pack_pair){item[o.out], item[o.in], o.distance};
    }
    free(views);
    free(storage);
    free(item);
    return n;
}

struct stages { /* what is cut */
    struct ig_pack_item *items;
    struct ig_pack_pair *pairs;
    int32_t n, n_pairs;
};

/* The items alive in steps [from, to), packed; others take no room. */
static int64_t pack_part(const struct stages *s, int32_t from, int32_t to)
{
    struct ig_pack_item *part = calloc((size_t)s->n + 1, sizeof *part);
    for (int32_t i = 0; i < s->n; i++) {
        part[i] = s->items[i];
        if (part[i].lower < from) part[i].lower = from;
        if (part[i].upper > to) part[i].upper = to;
        if (part[i].lower > part[i].upper) part[i].upper = part[i].lower;
    }
    int64_t height = ig_pack_overlapping(part, s->n, s->pairs, s->n_pairs).height;
    free(part);
    return height;
}

int stage_may_cut(const struct ig_graph *g, const struct ig_plan *p, int32_t at, int32_t rows)
{
    for (int32_t v = 0; v < p->n_buffers; v++) {
        const struct ig_plan_buffer *b = &p->buffers[v];
        const struct ig_shape *s = &g->values[v].shape;
        if (b->memory != IG_MEMORY_ARENA && b->memory != IG_MEMORY_INPUT) continue;
        if (b->first < at && b->last >= at && s->rank == 4 && s->dims[1] > rows) return 0;
    }
    for (int32_t i = 0; i < p->n_bands; i++)
        if (p->bands[i].first < at && at <= p->bands[i].last) return 0;
    return 1;
}

int64_t stage_bytes_at(const struct ig_graph *g, const struct ig_plan *p, int32_t at)
{
    struct stages s = {.items = calloc((size_t)(p->n_buffers + p->n_steps), sizeof *s.items),
                       .pairs = calloc((size_t)p->n_bands + 1, sizeof *s.pairs)};
    s.n = stage_items(p, s.items);
    s.n_pairs = stage_pairs(g, p, s.pairs);
    int64_t stages[2] = {pack_part(&s, 0, at), pack_part(&s, at, p->n_steps)}, base[2];
    free(s.items);
    free(s.pairs);
    return ig_share_stack(stages, 2, base);
}

void stage_bytes(const struct ig_graph *g, const struct ig_plan *p, int32_t rows, int64_t *least, int64_t *most)
{
    *least = INT64_MAX;
    *most = 0;
    for (int32_t at = 1; at < p->n_steps; at++) {
        if (!stage_may_cut(g, p, at, rows)) continue;
        int64_t bytes = stage_bytes_at(g, p, at);
        if (bytes < *least) *least = bytes;
        if (bytes > *most) *most = bytes;
    }
}
