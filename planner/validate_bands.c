#include "planner/validate_bands.h"

#include <stdlib.h>

#include "kernels_cpu/problem.h"
#include "planner/alloc.h"

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

/* The step that is the only one to read v, by one operand; -1: there is no such step. */
static int32_t only_reader(const struct ig_graph *g, const struct ig_plan *p, int32_t v, int32_t *operand)
{
    int32_t found = -1;
    for (int32_t i = 0; i < g->n_outputs; i++)
        if (g->outputs[i] == v) return -1;
    for (int32_t i = 0; i < p->n_steps; i++) {
        const struct ig_node *n = &g->nodes[p->steps[i].node];
        for (int32_t k = 0; k < n->n_in; k++) {
            if (n->in[k] != v) continue;
            if (found >= 0) return -1;
            found = i;
            *operand = k;
        }
    }
    return found;
}

struct ig_walked ig_walk_band(const struct ig_graph *g, const struct ig_plan *p, const struct ig_band *b)
{
    struct ig_walked w = {.n = 0}, none = {.n = 0};
    if (b->first < 0 || b->last >= p->n_steps || b->first >= b->last) return none;
    for (int32_t at = b->first, operand = -1;;) {
        if (w.n == IG_MAX_BAND || !p->steps[at].kernel) return none;
        w.step[w.n] = at;
        w.operand[w.n] = operand;
        w.value[w.n] = only_output(&g->nodes[p->steps[at].node]);
        if (w.value[w.n] < 0) return none;
        w.n++;
        if (at == b->last) return w;
        int32_t next = only_reader(g, p, w.value[w.n - 1], &operand);
        if (next <= at || next > b->last) return none;
        at = next;
    }
}

int32_t ig_walk_bands(const struct ig_graph *g, const struct ig_plan *p, int32_t *of)
{
    for (int32_t i = 0; i < p->n_steps; i++) of[i] = -1;
    for (int32_t b = 0; b < p->n_bands; b++) {
        struct ig_walked w = ig_walk_band(g, p, &p->bands[b]);
        if (w.n < 2) return b;
        for (int32_t k = 0; k < w.n; k++) {
            if (of[w.step[k]] >= 0) return b;
            of[w.step[k]] = b;
        }
    }
    return -1;
}

int ig_is_inner(const struct ig_graph *g, const struct ig_plan *p, const int32_t *of, int32_t v)
{
    int32_t producer = g->values[v].producer;
    for (int32_t i = 0; producer >= 0 && i < p->n_steps; i++)
        if (p->steps[i].node == producer) return of[i] >= 0 && p->bands[of[i]].last != i;
    return 0;
}

/* --- rings --- */

int64_t ig_ring_bytes(const struct ig_graph *g, const struct ig_plan_buffer *b)
{
    const struct ig_shape *s = &g->values[b->value].shape;
    int32_t images, h, w, c;
    ig_collapse(IG_RESHAPE, s, &images, &h, &w, &c);
    if (b->view.pixel_stride < c || b->view.row_stride < (w - 1) * b->view.pixel_stride + c) return -1;
    return b->ring_rows * b->view.row_stride * ig_type_bytes(s->type);
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
    for (int32_t i = 0; i < w.n - 1; i++) {
        const struct ig_plan_buffer *ring = &p->buffers[w.value[i]];
        if (ring->offset < kernels) *clash = ring->value;
        for (int32_t k = 0; k < i; k++) {
            const struct ig_plan_buffer *other = &p->buffers[w.value[k]];
            if (ring->offset < other->offset + other->bytes && other->offset < ring->offset + ring->bytes)
                *clash = ring->value;
        }
        if (round_up(ring->offset + ring->bytes) > end) end = round_up(ring->offset + ring->bytes);
    }
    return end;
}

struct tap {
    int32_t first, count, step;
}; /* rows first, first + step, ... */

/* The rows of operand k that output row y is made of. */
static struct tap taps_of(const struct ig_node *n, const struct ig_call *call, int32_t k, int32_t y)
{
    const struct ig_window *w = n->op == IG_POOL ? &n->attrs.pool.w : &n->attrs.conv.w;
    int32_t in = call->in[k].h, out = call->out[0].h;
    if (n->op == IG_RESIZE) return (struct tap){(int32_t)((int64_t)y * in / out) - 1, 3, 1};
    if (k == 0 && n->op == IG_DECONV) {
        int32_t low = y + w->top - (w->kh - 1) * w->dh, first = low <= 0 ? 0 : (low + w->sh - 1) / w->sh;
        return (struct tap){first, (y + w->top) / w->sh - first + 1, 1};
    }
    if (k == 0 &&
        (n->op == IG_CONV || n->op == IG_POOL || n->op == IG_CONV_INTEGER || n->op == IG_QLINEAR_CONV))
        return (struct tap){y * w->sh - w->top, w->kh, w->dh};
    return (struct tap){y, 1, 1};
}

struct shadow_band {
    const struct ig_graph *g;
    const struct ig_plan *p;
    const struct ig_call *calls;
    struct ig_walked w;
    struct ig_reach reach[IG_MAX_BAND];
    int32_t *tags[IG_MAX_BAND]; /* of a member but the last, by slot of its ring: the row there; -1: none */
    int32_t done[IG_MAX_BAND];
    int by_tiles;               /* phases are the last member's tile */
    int32_t over;               /* operand of the first member that the last one writes over; -1: none */
};

/* The operand of the band's first member that lies where the last one writes. */
static int32_t overwritten(const struct shadow_band *s)
{
    const struct ig_node *n = &s->g->nodes[s->p->steps[s->w.step[0]].node];
    const struct ig_plan_buffer *out = &s->p->buffers[s->w.value[s->w.n - 1]];
    for (int32_t k = 0; k < n->n_in; k++) {
        if (n->in[k] < 0) continue;
        const struct ig_plan_buffer *in = &s->p->buffers[n->in[k]];
        if (in->memory == IG_MEMORY_ARENA && out->memory == IG_MEMORY_ARENA && in->offset == out->offset) return k;
    }
    return -1;
}

/* Does the first member find its rows as they were, before the last has written over them? */
static int is_whole(const struct shadow_band *s, int32_t y)
{
    struct tap t = taps_of(&s->g->nodes[s->p->steps[s->w.step[0]].node], &s->calls[s->w.step[0]], s->over, y);
    for (int32_t k = 0; k < t.count; k++) {
        int32_t row = t.first + k * t.step;
        if (row >= 0 && row < s->done[s->w.n - 1]) return 0;
    }
    return 1;
}

static int is_there(const struct shadow_band *s, int32_t member, int32_t row)
{
    int32_t h = s->calls[s->w.step[member]].out[0].h, ring = s->p->buffers[s->w.value[member]].ring_rows;
    return row < 0 || row >= h || s->tags[member][row % ring] == row;
}

/* Member i computes rows [a, b), after what it needs: 0, or -1 where a row is missing. *missing: of which
 * value. */
static int compute(struct shadow_band *s, int32_t i, int32_t a, int32_t b, int32_t *missing)
{
    const struct ig_node *n = &s->g->nodes[s->p->steps[s->w.step[i]].node];
    const struct ig_call *call = &s->calls[s->w.step[i]];
    int32_t own = s->p->steps[s->w.step[i]].kernel->row_tile;
    if (s->by_tiles && b - a > own) {
        for (; a < b; a += own)
            if (compute(s, i, a, b - a < own ? b : a + own, missing)) return -1;
        return 0;
    }
    if (i > 0) {
        int32_t h = s->calls[s->w.step[i - 1]].out[0].h;
        int32_t tile = s->p->steps[s->w.step[i - 1]].kernel->row_tile;
        struct ig_rows need = ig_reach_rows(&s->reach[i], a, b, h);
        int32_t from = need.a / tile * tile, to = (need.b + tile - 1) / tile * tile;
        if (from < s->done[i - 1]) from = s->done[i - 1];
        if (to > h) to = h;
        if (need.a < need.b && from < to && compute(s, i - 1, from, to, missing)) return -1;
        for (int32_t y = a; y < b; y++) {
            struct tap t = taps_of(n, call, s->w.operand[i], y);
            for (int32_t k = 0; k < t.count; k++)
                if (!is_there(s, i - 1, t.first + k * t.step)) {
                    *missing = s->w.value[i - 1];
                    return -1;
                }
        }
    }
    for (int32_t y = a; i == 0 && s->over >= 0 && y < b; y++)
        if (!is_whole(s, y)) {
            *missing = s->g->nodes[s->p->steps[s->w.step[0]].node].in[s->over];
            return -1;
        }
    for (int32_t y = a; i < s->w.n - 1 && y < b; y++)
        s->tags[i][y % s->p->buffers[s->w.value[i]].ring_rows] = y;
    s->done[i] = b;
    return 0;
}

static void forget(struct shadow_band *s)
{
    for (int32_t i = 0; i < s->w.n; i++) {
        s->done[i] = 0;
        for (int32_t k = 0; i < s->w.n - 1 && k < s->p->buffers[s->w.value[i]].ring_rows; k++)
            s->tags[i][k] = -1;
    }
}

static int can_run(struct shadow_band *s, const struct ig_band *b)
{
    for (int32_t i = 0; i < s->w.n; i++) {
        const struct ig_plan_step *step = &s->p->steps[s->w.step[i]];
        const struct ig_call *call = &s->calls[s->w.step[i]];
        enum ig_op op = (enum ig_op)s->g->nodes[step->node].op;
        int32_t images, h, w, c;
        int32_t flags = i ? IG_STRIDED : IG_STRIDED | IG_RING_OUT;
        if (!(step->kernel->flags & flags) || step->kernel->row_tile < 1) return 0;
        if (i < s->w.n - 1 && (step->split || s->p->buffers[s->w.value[i]].ring_rows < 1)) return 0;
        if (i == s->w.n - 1 && step->split == 2) return 0;
        ig_collapse(op, call->out[0].shape, &images, &h, &w, &c);
        if (images != 1) return 0;
        if (!i) continue;
        const struct ig_operand *in = &call->in[s->w.operand[i]], *from = &s->calls[s->w.step[i - 1]].out[0];
        if (in->h != from->h || in->w != from->w || in->c != from->c) return 0;
        if (!ig_reach_of(op, call, s->w.operand[i], &s->reach[i])) return 0;
    }
    int32_t tile = s->p->steps[b->last].kernel->row_tile;
    return b->rows > 0 && b->rows % tile == 0;
}

int32_t ig_replay_band(const struct ig_graph *g, const struct ig_plan *p, const struct ig_band *b,
                       const struct ig_call *calls)
{
    struct shadow_band s = {.g = g, .p = p, .calls = calls, .w = ig_walk_band(g, p, b)};
    const struct ig_plan_step *last = &p->steps[b->last];
    if (!can_run(&s, b)) return -2;
    s.over = overwritten(&s);
    s.by_tiles = b->rows == last->kernel->row_tile;
    int32_t h = calls[b->last].out[0].h, chunk = last->split ? last->chunk : h, missing = -1;
    for (int32_t i = 0; i < s.w.n - 1; i++)
        s.tags[i] = ig_must_alloc((size_t)p->buffers[s.w.value[i]].ring_rows, sizeof *s.tags[i]);
    for (int32_t from = 0; from < h && missing < 0; from += chunk) {
        int32_t to = h - from < chunk ? h : from + chunk;
        forget(&s);
        for (int32_t y = from; y < to && missing < 0; y += b->rows)
            compute(&s, s.w.n - 1, y, to - y < b->rows ? to : y + b->rows, &missing);
    }
    for (int32_t i = 0; i < s.w.n - 1; i++) free(s.tags[i]);
    return missing;
}
