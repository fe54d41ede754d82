/*
 * What a thread needs for itself while a step runs: a kernel's scratch, or all that a band has: its kernels' common
 * scratch, and behind that the rings. It lies in the arena only as long as the step runs.
 */
#include "planner/band.h"

static int64_t round_up(int64_t bytes)
{
    return (bytes + IG_ALIGN - 1) / IG_ALIGN * IG_ALIGN;
}

/* The part that a band is, its rings and their offsets; returns its scratch. */
static int64_t band_rings(const struct ig_graph *g, const struct ig_view *views, const struct ig_plan *p,
                          const struct ig_band *band, struct ig_part *part, int32_t *rings, int64_t *offset)
{
    const struct ig_plan_step *last = &p->steps[band->last];
    if (!ig_part_of(g, views, p, band, part)) return 0;
    return ig_part_scratch(part, band->rows, last->split ? last->chunk : ig_part_rows(part), rings, offset);
}

static int64_t step_scratch(const struct ig_graph *g, const struct ig_view *views, const struct ig_plan *p, int32_t step)
{
    const struct ig_kernel *k = p->steps[step].kernel;
    const struct ig_band *band = ig_band_of(p, step);
    struct ig_part part;
    struct ig_call call;
    int32_t rings[IG_MAX_BAND], batch;
    int64_t offset[IG_MAX_BAND];
    if (band) return band->last == step ? band_rings(g, views, p, band, &part, rings, offset) : 0;
    if (!k || !k->scratch) return 0;
    ig_node_call(g, views, &g->nodes[p->steps[step].node], &call, &batch);
    return round_up((int64_t)k->scratch(&call));
}

void ig_measure_scratch(const struct ig_graph *g, const struct ig_view *views, struct ig_plan *p)
{
    p->scratch_bytes = 0;
    for (int32_t i = 0; i < p->n_steps; i++) {
        p->steps[i].scratch_bytes = step_scratch(g, views, p, i);
        if (p->steps[i].scratch_bytes > p->scratch_bytes) p->scratch_bytes = p->steps[i].scratch_bytes;
    }
}

/* A piece of a concatenation lies in its whole's ring, and all of one that is written over another's in that. */
static void place_ring(const struct ig_graph *g, const struct ig_view *views, struct ig_plan *p, int32_t root,
                       int32_t owner, int32_t rows, int64_t offset)
{
    struct ig_view ring = ig_ring_view(g, p, root);
    int64_t element = ig_type_bytes(g->values[root].shape.type);
    for (int32_t v = 0; v < g->n_values; v++) {
        struct ig_plan_buffer *b = &p->buffers[v];
        if (views[v].root != root) continue;
        b->memory = IG_MEMORY_RING;
        b->view = ring;
        b->view.offset = views[v].offset;
        b->ring_rows = rows;
        b->offset = offset + views[v].offset * element;
        if (v == owner) b->bytes = rows * ring.row_stride * element;
        if (root != owner) b->alias_of = owner;
    }
}

void ig_place_rings(const struct ig_graph *g, const struct ig_view *views, struct ig_plan *p)
{
    for (int32_t i = 0; i < p->n_bands; i++) {
        struct ig_part part;
        int32_t rings[IG_MAX_BAND];
        int64_t offset[IG_MAX_BAND];
        if (!band_rings(g, views, p, &p->bands[i], &part, rings, offset)) continue;
        for (int32_t k = 0; k < part.n_rings; k++)
            place_ring(g, views, p, part.root[k], part.root[k], rings[k], offset[k]);
        for (int32_t m = 0; m < part.flow.n; m++) {
            int32_t k = part.ring[m], root = views[g->nodes[p->steps[part.flow.step[m]].node].out[0]].root;
            if (k >= 0 && root != part.root[k]) place_ring(g, views, p, root, part.root[k], rings[k], offset[k]);
        }
    }
}
