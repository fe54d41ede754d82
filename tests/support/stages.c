#include "tests/support/stages.h"

#include <stdlib.h>

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

/* The items alive in steps [from, to), packed. */
static int64_t pack_part(const struct ig_pack_item *items, int32_t n, int32_t from, int32_t to)
{
    struct ig_pack_item *part = calloc((size_t)n + 1, sizeof *part);
    int32_t count = 0;
    for (int32_t i = 0; i < n; i++) {
        struct ig_pack_item item = items[i];
        if (item.lower < from) item.lower = from;
        if (item.upper > to) item.upper = to;
        if (item.lower < item.upper) part[count++] = item;
    }
    int64_t height = ig_pack_offsets(part, count).height;
    free(part);
    return height;
}

/* Is everything that crosses to step `at` at most that high, and no band cut? */
static int may_cut(const struct ig_graph *g, const struct ig_plan *p, int32_t at, int32_t rows)
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

void stage_bytes(const struct ig_graph *g, const struct ig_plan *p, int32_t rows, int64_t *least, int64_t *most)
{
    struct ig_pack_item *items = calloc((size_t)(p->n_buffers + p->n_steps), sizeof *items);
    int32_t n = stage_items(p, items);
    *least = INT64_MAX;
    *most = 0;
    for (int32_t at = 1; at < p->n_steps; at++) {
        if (!may_cut(g, p, at, rows)) continue;
        int64_t stages[2] = {pack_part(items, n, 0, at), pack_part(items, n, at, p->n_steps)}, base[2];
        int64_t bytes = ig_share_stack(stages, 2, base);
        if (bytes < *least) *least = bytes;
        if (bytes > *most) *most = bytes;
    }
    free(items);
}
