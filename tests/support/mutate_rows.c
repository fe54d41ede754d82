#include "tests/support/mutate_rows.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "kernels_cpu/problem.h"

/* A step in several pieces, or NULL. */
static struct ig_plan_step *any_cut(struct subject *s)
{
    for (int tries = 0; tries < 200; tries++) {
        struct ig_plan_step *step = any_kernel_step(s);
        if (step && step->split && step->chunks > 1) return step;
    }
    return NULL;
}

/* Rows or channels that its pieces share out. */
static int32_t extent_of(const struct subject *s, const struct ig_plan_step *step, int32_t split)
{
    struct ig_view *views = test_calloc((size_t)s->g->n_values, sizeof *views);
    struct ig_call call;
    int32_t images;
    for (int32_t v = 0; v < s->g->n_values; v++) views[v] = s->q.buffers[v].view;
    ig_node_call(s->g, views, &s->g->nodes[step->node], &call, &images);
    test_free(views);
    struct ig_range full = ig_full_range(&call);
    return split == 2 ? full.c1 : full.y1;
}

int lost_piece(struct subject *s)
{
    struct ig_plan_step *step = any_cut(s);
    if (!step) return 0;
    step->chunks -= rng_int(&s->r, 1, step->chunks);
    return IG_PHASE_GAP;
}

int short_pieces(struct subject *s)
{
    struct ig_plan_step *step = any_cut(s);
    if (!step) return 0;
    int32_t tile = step->split == 1 ? step->kernel->row_tile : step->kernel->col_tile;
    if (step->chunk <= tile || (step->chunk - tile) * step->chunks >= extent_of(s, step, step->split)) return 0;
    step->chunk -= tile;
    return IG_PHASE_GAP;
}

/* Every thread has scratch of its own in the arena then. */
static void cut(struct subject *s, struct ig_plan_step *step, int32_t split, int32_t chunk, int32_t chunks)
{
    step->split = split;
    step->chunk = chunk;
    step->chunks = chunks;
    int64_t end = step->scratch_offset + step->scratch_bytes * ig_scratch_threads(&s->q, step);
    if (end > s->q.arena_bytes) s->q.arena_bytes = end;
}

int whole_pieces(struct subject *s)
{
    struct ig_plan_step *step = any_kernel_step(s);
    if (!step || step->split) return 0;
    const struct ig_band *band = ig_band_of(&s->q, (int32_t)(step - s->q.steps));
    if (band && &s->q.steps[band->last] != step) return 0;
    cut(s, step, 0, 0, rng_int(&s->r, 2, 9));
    return IG_PHASE_TWICE;
}

int cut_keeping_band(struct subject *s)
{
    if (!s->q.n_bands) return 0;
    const struct ig_band *b = &s->q.bands[rng_int(&s->r, 0, s->q.n_bands - 1)];
    struct ig_plan_step *last = &s->q.steps[b->last];
    int32_t kept = 0, tile = last->kernel->row_tile, rows = extent_of(s, last, 1);
    for (int32_t i = b->first; i < b->last; i++) {
        const struct ig_plan_buffer *y = &s->q.buffers[s->g->nodes[s->q.steps[i].node].out[0]];
        kept += s->q.steps[i].kernel && y->memory != IG_MEMORY_RING;
    }
    if (!kept || last->split || rows <= tile) return 0;
    /* It may lie over what others still read. */
    if (s->q.buffers[s->g->nodes[last->node].out[0]].alias_of >= 0) return 0;
    cut(s, last, 1, tile, (rows + tile - 1) / tile);
    return IG_PHASE_TWICE;
}

int swapped_members(struct subject *s)
{
    if (!s->q.n_bands) return 0;
    const struct ig_band *band = &s->q.bands[rng_int(&s->r, 0, s->q.n_bands - 1)];
    for (int32_t i = band->first; i + 1 < band->last; i++) {
        struct ig_plan_step *a = &s->q.steps[i], *b = a + 1, t = *a;
        if (!a->kernel || !b->kernel || s->g->nodes[b->node].in[0] != s->g->nodes[a->node].out[0]) continue;
        *a = *b;
        *b = t;
        return IG_READ_UNWRITTEN;
    }
    return 0;
}
