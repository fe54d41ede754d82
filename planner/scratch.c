/*
 * What a thread needs for itself while a step runs: a kernel's scratch, or all that a band has: its kernels' common
 * scratch, and behind that the rings, one after the other. It lies in the arena only as long as the step runs.
 */
#include "planner/band.h"

static int64_t round_up(int64_t bytes)
{
    return (bytes + IG_ALIGN - 1) / IG_ALIGN * IG_ALIGN;
}

int64_t ig_chain_scratch(const struct ig_chain *chain, int32_t rows, int32_t chunk, int32_t *rings, int64_t *offset)
{
    int64_t end = chain->scratch_bytes;
    ig_chain_rings(chain, rows, chunk, rings);
    for (int32_t i = 0; i < chain->n - 1; i++) {
        offset[i] = end;
        end += round_up(rings[i] * chain->row_bytes[i]);
    }
    return end;
}

/* The chain that a band is, its rings and their offsets; returns its scratch. */
static int64_t band_rings(const struct ig_graph *g, const struct ig_view *views, const struct ig_plan *p,
                          const struct ig_band *band, struct ig_chain *chain, int32_t *rings, int64_t *offset)
{
    const struct ig_plan_step *last = &p->steps[band->last];
    if (!ig_chain_make(g, views, p, band->first, band->last, chain)) return 0;
    int32_t chunk = last->split ? last->chunk : chain->rows[chain->n - 1];
    return ig_chain_scratch(chain, band->rows, chunk, rings, offset);
}

static int64_t step_scratch(const struct ig_graph *g, const struct ig_view *views, const struct ig_plan *p, int32_t step)
{
    const struct ig_kernel *k = p->steps[step].kernel;
    const struct ig_band *band = ig_band_of(g, p, step);
    struct ig_chain chain;
    struct ig_call call;
    int32_t rings[IG_MAX_BAND], batch;
    int64_t offset[IG_MAX_BAND];
    if (band) return band->last == step ? band_rings(g, views, p, band, &chain, rings, offset) : 0;
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

static void place_band(const struct ig_graph *g, const struct ig_view *views, const struct ig_band *band,
                       struct ig_plan *p)
{
    struct ig_chain chain;
    int32_t rings[IG_MAX_BAND];
    int64_t offset[IG_MAX_BAND];
    if (!band_rings(g, views, p, band, &chain, rings, offset)) return;
    for (int32_t i = 0; i < chain.n - 1; i++) {
        struct ig_plan_buffer *b = &p->buffers[g->nodes[p->steps[chain.step[i]].node].out[0]];
        b->memory = IG_MEMORY_RING;
        b->view = ig_ring_view(g, p, b->value);
        b->ring_rows = rings[i];
        b->bytes = rings[i] * chain.row_bytes[i];
        b->offset = offset[i];
    }
}

void ig_place_rings(const struct ig_graph *g, const struct ig_view *views, struct ig_plan *p)
{
    for (int32_t i = 0; i < p->n_bands; i++) place_band(g, views, &p->bands[i], p);
}
