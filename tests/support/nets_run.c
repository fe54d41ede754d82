/* Running small networks: the oracle gives every value memory of its own, the other one obeys the plan. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "kernels_cpu/eval.h"
#include "kernels_cpu/problem.h"
#include "tests/support/nets.h"

enum { GUARD = 4096, POISON = 0xf5 };

static void fill_input(const struct ig_shape *s, uint64_t seed, void *data)
{
    struct rng r = {seed};
    for (int64_t i = 0; i < ig_count(s); i++) ((float *)data)[i] = (float)rng_int(&r, -4, 4);
}

static void *tensor(const struct ig_graph *g, int32_t v)
{
    return test_malloc((size_t)ig_bytes(&g->values[v].shape));
}

/* Any number of inputs, which a kernel call has no room for. */
static void concat(const struct ig_graph *g, const struct ig_node *n, void *const *data)
{
    const struct ig_shape *s = &g->values[n->out[0]].shape;
    char *to = data[n->out[0]];
    int64_t outer = 1;
    for (int32_t i = 0; i < n->attrs.axis.axis; i++) outer *= s->dims[i];
    for (int64_t o = 0; o < outer; o++)
        for (int32_t k = 0; k < n->n_in; k++) {
            size_t run = (size_t)(ig_bytes(&g->values[n->in[k]].shape) / outer);
            memcpy(to, (const char *)data[n->in[k]] + (size_t)o * run, run);
            to += run;
        }
}

static void run_node(const struct ig_graph *g, const struct ig_node *n, void *const *data)
{
    const void *in[16] = {0};
    if (n->op == IG_CONCAT) {
        concat(g, n, data);
        return;
    }
    for (int32_t k = 0; k < n->n_in; k++) in[k] = n->in[k] < 0 ? NULL : data[n->in[k]];
    if (ig_ref_eval(g, n, in, &data[n->out[0]])) fail_msg("the reference does not compute '%s'", n->name);
}

void net_run(const struct ig_graph *g, uint64_t seed, void **out)
{
    void **data = test_calloc((size_t)g->n_values, sizeof *data);
    for (int32_t v = 0; v < g->n_values; v++) {
        data[v] = tensor(g, v);
        if (ig_is_const(g, v)) memcpy(data[v], g->values[v].data, (size_t)ig_bytes(&g->values[v].shape));
        if (ig_is_input(g, v)) fill_input(&g->values[v].shape, seed, data[v]);
    }
    for (int32_t i = 0; i < g->n_nodes; i++) run_node(g, &g->nodes[i], data);
    for (int32_t i = 0; i < g->n_outputs; i++) {
        out[i] = tensor(g, g->outputs[i]);
        memcpy(out[i], data[g->outputs[i]], (size_t)ig_bytes(&g->values[g->outputs[i]].shape));
    }
    for (int32_t v = 0; v < g->n_values; v++) test_free(data[v]);
    test_free(data);
}

struct memories { char *arena, *scratch, **in, **out; };

static void *place_of(const struct ig_graph *g, const struct ig_plan *p, const struct memories *m, int32_t v)
{
    if (v < 0) return NULL;
    const struct ig_plan_buffer *b = &p->buffers[v];
    switch (b->memory) {
    case IG_MEMORY_ARENA: return m->arena + b->offset;
    case IG_MEMORY_INPUT: return m->in[b->index] + b->offset;
    case IG_MEMORY_OUTPUT: return m->out[b->index] + b->offset;
    case IG_MEMORY_RING: return m->scratch + b->offset;
    default: return (void *)(uintptr_t)g->values[v].data;
    }
}

static void run_chunks(const struct ig_plan_step *s, const struct ig_call *call, void *scratch)
{
    struct ig_range full = ig_full_range(call);
    for (int32_t i = s->chunks - 1; i >= 0; i--) { /* backwards: the order must not matter */
        struct ig_range r = full;
        if (s->split == 1) {
            r.y0 = i * s->chunk;
            r.y1 = full.y1 - r.y0 < s->chunk ? full.y1 : r.y0 + s->chunk;
        } else if (s->split == 2) {
            r.c0 = i * s->chunk;
            r.c1 = full.c1 - r.c0 < s->chunk ? full.c1 : r.c0 + s->chunk;
        }
        s->kernel->run(call, r, scratch);
    }
}

/* The call of a step, of image 0, with its data; the number of images. */
static int32_t make_call(const struct ig_graph *g, const struct ig_plan *p, const struct ig_plan_step *s,
                         const struct ig_view *views, const struct memories *m, struct ig_call *call)
{
    static const char zeros[1 << 14] __attribute__((aligned(64)));
    const struct ig_node *n = &g->nodes[s->node];
    int32_t images;
    ig_node_call(g, views, n, call, &images);
    assert_true(!ig_is_spatial((enum ig_op)n->op) || ig_zeros_bytes(call) <= sizeof zeros);
    call->zeros = zeros;
    for (int32_t k = 0; k < n->n_in; k++) {
        int32_t ring = n->in[k] < 0 ? 0 : p->buffers[n->in[k]].ring_rows;
        call->in[k].data = place_of(g, p, m, n->in[k]);
        if (ring) call->in[k].ring_rows = ring;
    }
    for (int32_t k = 0; k < n->n_out; k++) {
        int32_t ring = n->out[k] < 0 ? 0 : p->buffers[n->out[k]].ring_rows;
        call->out[k].data = place_of(g, p, m, n->out[k]);
        if (ring) call->out[k].ring_rows = ring;
    }
    return images;
}

static void run_step(const struct ig_graph *g, const struct ig_plan *p, const struct ig_plan_step *s,
                     const struct ig_view *views, const struct memories *m)
{
    struct ig_call call;
    int32_t images = make_call(g, p, s, views, m, &call);
    for (int32_t i = 0; i < (s->kernel->row_tile ? images : 1); i++) {
        struct ig_call one = ig_call_image((enum ig_op)g->nodes[s->node].op, &call, i);
        run_chunks(s, &one, m->scratch);
    }
}

struct band {
    struct ig_flow flow;
    const struct ig_plan_step *steps[IG_MAX_BAND];
    struct ig_call calls[IG_MAX_BAND];
    int32_t done[IG_MAX_BAND];
    uint32_t several; /* members that go on from row to row */
    char *scratch;
    int by_tiles; /* phases are the last member's tile */
};

static void produce(struct band *b, int32_t i, int32_t y0, int32_t y1);

/* Rows of the tensor that those members write. */
static int32_t rows_of(const struct band *b, uint32_t from)
{
    int32_t m = 0;
    while (!(from >> m & 1)) m++;
    return b->calls[m].out[0].h;
}

/* The members `from` have rows [y0, y1). */
static void await(struct band *b, uint32_t from, int32_t y0, int32_t y1)
{
    for (int32_t y = b->by_tiles ? y0 + 1 : y1; y0 < y1 && y <= y1; y++)
        for (int32_t m = 0; m < b->flow.n; m++) {
            if (!(from >> m & 1)) continue;
            int32_t tile = b->steps[m]->kernel->row_tile, h = b->calls[m].out[0].h;
            int32_t a = ig_next_row(b->done[m], tile, (struct ig_rows){y0, y1}, b->several >> m & 1);
            int32_t e = (y + tile - 1) / tile * tile;
            if (e > h) e = h;
            if (a < e) produce(b, m, a, e);
        }
}

/* Rows [y0, y1) of member i, after the rows that they need. */
static void produce(struct band *b, int32_t i, int32_t y0, int32_t y1)
{
    int32_t own = b->steps[i]->kernel->row_tile;
    if (b->by_tiles && y1 - y0 > own) {
        for (; y0 < y1; y0 += own) produce(b, i, y0, y1 - y0 < own ? y1 : y0 + own);
        return;
    }
    for (int32_t k = 0; k < b->flow.n_feeds[i]; k++) {
        const struct ig_feed *f = &b->flow.feeds[i][k];
        struct ig_rows need = ig_reach_rows(&f->reach, y0, y1, rows_of(b, f->from));
        await(b, f->from, need.a, need.b);
    }
    b->steps[i]->kernel->run(&b->calls[i], (struct ig_range){y0, y1, 0, b->calls[i].out[0].c}, b->scratch);
    b->done[i] = y1;
}

/* Each member begins with the first row that any of its readers wants, the last one with y. */
static void begin_chunk(struct band *b, int32_t y)
{
    uint32_t read = 0;
    b->several = b->flow.kept;
    for (int32_t i = b->flow.n - 1; i >= 0; i--) {
        b->done[i] = i == b->flow.n - 1 ? y : b->flow.kept >> i & 1 ? 0 : b->calls[i].out[0].h;
        for (int32_t j = i + 1; j < b->flow.n; j++)
            for (int32_t k = 0; k < b->flow.n_feeds[j]; k++) {
                const struct ig_feed *f = &b->flow.feeds[j][k];
                if (!(f->from >> i & 1)) continue;
                int32_t a = ig_reach_rows(&f->reach, b->done[j], b->done[j] + 1, rows_of(b, f->from)).a;
                if (a < b->done[i]) b->done[i] = a / b->steps[i]->kernel->row_tile * b->steps[i]->kernel->row_tile;
                if (read >> i & 1) b->several |= 1u << i;
                read |= 1u << i;
            }
    }
}

static void run_band(const struct ig_graph *g, const struct ig_plan *p, const struct ig_band *band,
                     const struct ig_view *views, const struct memories *m)
{
    struct band b = {.scratch = m->scratch};
    assert_true(ig_band_flow(g, p, band, &b.flow));
    int32_t n = b.flow.n;
    for (int32_t i = 0; i < n; i++) {
        b.steps[i] = &p->steps[b.flow.step[i]];
        make_call(g, p, b.steps[i], views, m, &b.calls[i]);
    }
    const struct ig_plan_step *last = b.steps[n - 1];
    b.by_tiles = band->rows == last->kernel->row_tile;
    int32_t h = b.calls[n - 1].out[0].h, chunk = last->split ? last->chunk : h;
    for (int32_t c = (h - 1) / chunk; c >= 0; c--) {
        int32_t to = h - c * chunk < chunk ? h : (c + 1) * chunk;
        memset(m->scratch, POISON, (size_t)p->scratch_bytes);
        begin_chunk(&b, c * chunk);
        for (int32_t y = c * chunk; y < to; y += band->rows) {
            int32_t end = to - y < band->rows ? to : y + band->rows;
            produce(&b, n - 1, y, end);
            for (int32_t k = 0; k < n - 1; k++)
                if (b.flow.kept >> k & 1)
                    await(&b, 1u << k, b.done[k], (int32_t)(((int64_t)b.calls[k].out[0].h * end + h - 1) / h));
        }
    }
}

static char *guarded(int64_t bytes)
{
    char *p = test_malloc((size_t)bytes + 2 * GUARD);
    memset(p, POISON, (size_t)bytes + 2 * GUARD);
    return p + GUARD;
}

static void check_guard(char *p, int64_t bytes)
{
    for (int i = 0; i < GUARD; i++) {
        assert_int_equal((unsigned char)p[-1 - i], POISON);
        assert_int_equal((unsigned char)p[bytes + i], POISON);
    }
    test_free(p - GUARD);
}

void net_run_plan(const struct ig_graph *g, const struct ig_plan *p, uint64_t seed, void **out)
{
    struct memories m = {guarded(p->arena_bytes), guarded(p->scratch_bytes),
                         test_calloc((size_t)g->n_inputs, sizeof *m.in),
                         test_calloc((size_t)g->n_outputs, sizeof *m.out)};
    struct ig_view *views = test_calloc((size_t)g->n_values, sizeof *views);
    for (int32_t v = 0; v < g->n_values; v++) views[v] = p->buffers[v].view;
    for (int32_t i = 0; i < g->n_inputs; i++) {
        m.in[i] = guarded(ig_bytes(&g->values[g->inputs[i]].shape));
        fill_input(&g->values[g->inputs[i]].shape, seed, m.in[i]);
    }
    for (int32_t i = 0; i < g->n_outputs; i++) m.out[i] = guarded(ig_bytes(&g->values[g->outputs[i]].shape));
    for (int32_t i = 0; i < p->n_steps; i++) {
        const struct ig_band *band = ig_band_of(p, i);
        if (band && band->last == i) run_band(g, p, band, views, &m);
        else if (!band && p->steps[i].kernel) run_step(g, p, &p->steps[i], views, &m);
    }
    check_guard(m.scratch, p->scratch_bytes);
    check_guard(m.arena, p->arena_bytes);
    for (int32_t i = 0; i < g->n_inputs; i++) check_guard(m.in[i], ig_bytes(&g->values[g->inputs[i]].shape));
    for (int32_t i = 0; i < g->n_outputs; i++) {
        int64_t bytes = ig_bytes(&g->values[g->outputs[i]].shape);
        out[i] = tensor(g, g->outputs[i]);
        memcpy(out[i], m.out[i], (size_t)bytes);
        check_guard(m.out[i], bytes);
    }
    test_free(m.in);
    test_free(m.out);
    test_free(views);
}
