/* Rings in the thread's scratch: behind what the band's kernels need themselves, one after the other. */
#include "planner/band.h"

static int64_t round_up(int64_t bytes)
{
    return (bytes + IG_ALIGN - 1) / IG_ALIGN * IG_ALIGN;
}

static void place_band(const struct ig_graph *g, const struct ig_view *views, const struct ig_band *band,
                       struct ig_plan *p)
{
    struct ig_chain chain;
    int32_t rings[IG_MAX_BAND];
    if (!ig_chain_make(g, views, p, band->first, band->last, &chain)) return;
    const struct ig_plan_step *last = &p->steps[band->last];
    ig_chain_rings(&chain, band->rows, last->split ? last->chunk : chain.rows[chain.n - 1], rings);
    int64_t end = chain.scratch_bytes;
    for (int32_t i = 0; i < chain.n - 1; i++) {
        struct ig_plan_buffer *b = &p->buffers[g->nodes[p->steps[chain.step[i]].node].out[0]];
        b->memory = IG_MEMORY_RING;
        b->view = ig_ring_view(g, b->value);
        b->ring_rows = rings[i];
        b->bytes = rings[i] * chain.row_bytes[i];
        b->offset = end;
        end += round_up(b->bytes);
    }
    if (end > p->scratch_bytes) p->scratch_bytes = end;
}

void ig_place_rings(const struct ig_graph *g, const struct ig_view *views, struct ig_plan *p)
{
    for (int32_t i = 0; i < p->n_bands; i++) place_band(g, views, &p->bands[i], p);
}
