/* Which steps a band has, what of it may be rings, and where those lie. */
#include "planner/validate_bands.h"

#include "kernels_cpu/problem.h"

/* --- structure --- */

static int32_t only_output(const struct ig_node *n)
{
    int32_t v = -1;
    for (int32_t k = 0; k < n->n_out; k++) {
        if (n->out[k] < 0) continue;
        if (v >= 0 || k > 0) return -1;
        v = n->out[k];
    }
    return v;
}

struct ig_walked ig_walk_band(const struct ig_graph *g, const struct ig_plan *p, const struct ig_band *b)
{
    struct ig_walked w = {.n = 0}, none = {.n = 0};
    if (b->first < 0 || b->last >= p->n_steps || b->first > b->last) return none;
    if (!p->steps[b->first].kernel || !p->steps[b->last].kernel) return none;
    for (int32_t at = b->first; at <= b->last; at++) {
        if (!p->steps[at].kernel) continue;
        if (w.n == IG_MAX_BAND) return none;
        w.step[w.n] = at;
        w.value[w.n] = only_output(&g->nodes[p->steps[at].node]);
        if (w.value[w.n] < 0) return none;
        w.n++;
    }
    return w;
}

int32_t ig_walk_bands(const struct ig_graph *g, const struct ig_plan *p, int32_t *of)
{
    for (int32_t i = 0; i < p->n_steps; i++) of[i] = -1;
    for (int32_t b = 0; b < p->n_bands; b++) {
        if (ig_walk_band(g, p, &p->bands[b]).n < 1) return b;
        for (int32_t i = p->bands[b].first; i <= p->bands[b].last; i++) {
            if (of[i] >= 0) return b;
            of[i] = b;
        }
    }
    return -1;
}

int ig_is_inner(const struct ig_graph *g, const struct ig_plan *p, const int32_t *of, int32_t v)
{
    int32_t band = -1, written = 0;
    for (int32_t i = 0; i < g->n_outputs; i++)
        if (g->outputs[i] == v) return 0;
    for (int32_t i = 0; i < p->n_steps; i++) {
        const struct ig_node *n = &g->nodes[p->steps[i].node];
        int touches = 0;
        for (int32_t k = 0; k < n->n_in; k++) touches |= n->in[k] == v;
        for (int32_t k = 0; k < n->n_out; k++) {
            touches |= n->out[k] == v;
            written |= n->out[k] == v;
        }
        if (!touches) continue;
        if (of[i] < 0 || (band >= 0 && of[i] != band)) return 0;
        band = of[i];
    }
    return written;
}

int32_t ig_pieces_of(const struct ig_graph *g, const struct ig_plan *p, int32_t v, int32_t *list, int32_t n)
{
    int32_t step = 0;
    for (int32_t i = 0; i < n; i++)
        if (list[i] == v) return n;
    while (step < p->n_steps && p->steps[step].node != g->values[v].producer) step++;
    if (step == p->n_steps || p->steps[step].kernel) {
        list[n] = v;
        return n + 1;
    }
    const struct ig_node *node = &g->nodes[p->steps[step].node];
    for (int32_t k = 0; k < node->n_in; k++)
        if (node->in[k] >= 0) n = ig_pieces_of(g, p, node->in[k], list, n);
    return n;
}

/* --- rings --- */

struct extent {
    int32_t h, w, c;
    int64_t bytes; /* of an element */
};

static struct extent extent_of(const struct ig_graph *g, int32_t v)
{
    const struct ig_shape *s = &g->values[v].shape;
    struct extent e = {.bytes = ig_type_bytes(s->type)};
    int32_t images;
    ig_collapse(IG_RESHAPE, s, &images, &e.h, &e.w, &e.c);
    return e;
}

int64_t ig_ring_bytes(const struct ig_graph *g, const struct ig_plan_buffer *b)
{
    struct extent e = extent_of(g, b->value);
    if (b->view.pixel_stride < e.c || b->view.row_stride < (e.w - 1) * b->view.pixel_stride + e.c) return -1;
    return b->ring_rows * b->view.row_stride * e.bytes;
}

int ig_is_in_ring(const struct ig_graph *g, const struct ig_plan *p, int32_t v, int32_t owner)
{
    const struct ig_plan_buffer *b = &p->buffers[v], *o = &p->buffers[owner];
    struct extent e = extent_of(g, v), of = extent_of(g, owner);
    return b->memory == IG_MEMORY_RING && o->memory == IG_MEMORY_RING && b->ring_rows == o->ring_rows &&
           b->view.row_stride == o->view.row_stride && b->view.pixel_stride == o->view.pixel_stride && e.h == of.h &&
           e.w == of.w && e.bytes == of.bytes && b->offset >= o->offset &&
           b->offset + e.c * e.bytes <= o->offset + of.c * of.bytes;
}

static int64_t round_up(int64_t bytes)
{
    return (bytes + IG_ALIGN - 1) / IG_ALIGN * IG_ALIGN;
}

static int64_t kernel_scratch(const struct ig_plan *p, const struct ig_call *calls, int32_t step)
{
    const struct ig_kernel *k = p->steps[step].kernel;
    return k->scratch ? round_up((int64_t)k->scratch(&calls[step])) : 0;
}

/* Is v a ring of its own that the band's steps write, or put together? */
static int is_ring_of(const struct ig_graph *g, const struct ig_plan *p, const struct ig_band *b, int32_t v)
{
    if (p->buffers[v].memory != IG_MEMORY_RING || p->buffers[v].alias_of >= 0) return 0;
    for (int32_t i = b->first; i <= b->last; i++)
        if (p->steps[i].node == g->values[v].producer) return 1;
    return 0;
}

int64_t ig_band_scratch(const struct ig_graph *g, const struct ig_plan *p, const struct ig_band *b,
                        const struct ig_call *calls, int32_t *clash)
{
    struct ig_walked w = ig_walk_band(g, p, b);
    int64_t end = 0, kernels;
    *clash = -1;
    for (int32_t i = 0; i < w.n; i++) {
        int64_t bytes = kernel_scratch(p, calls, w.step[i]);
        if (bytes > end) end = bytes;
    }
    kernels = end;
    for (int32_t v = 0; v < g->n_values; v++) {
        const struct ig_plan_buffer *ring = &p->buffers[v];
        if (!is_ring_of(g, p, b, v)) continue;
        if (ring->offset < kernels) *clash = v;
        if (round_up(ring->offset + ring->bytes) > end) end = round_up(ring->offset + ring->bytes);
    }
    return end;
}
