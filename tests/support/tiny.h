/* A small network with everything that is awkward to print: odd names and floats, f16, i64 and scalar
 * outputs. */
#ifndef TESTS_SUPPORT_TINY_H
#define TESTS_SUPPORT_TINY_H

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "gen/lower.h"
#include "tests/support/node.h"

#define TINY_NAME "x */ \"q\" \\ ?\?/ \n\t%s \xc3\xa9"
enum {
    TINY_INPUTS = 1,
    TINY_OUTPUTS = 3
}; /* f32 scores [1,2]; the same in f16; the best class, a scalar i64 */

static inline int32_t tiny_node(struct ig_graph *g, const char *name, enum ig_op op, union ig_attrs attrs,
                                struct ig_shape out, int32_t n_in, const int32_t *in)
{
    int32_t v = ig_add_value(g, name, &out);
    struct ig_node *n = ig_add_node(g, name, op, n_in, 1);
    for (int32_t i = 0; i < n_in; i++) n->in[i] = in[i];
    n->out[0] = v;
    n->attrs = attrs;
    return v;
}

/* 0, 1, 2, ... 6, 0, ... minus 3 */
static inline int32_t tiny_const(struct ig_graph *g, const char *name, struct ig_shape s)
{
    int32_t v = ig_add_const(g, name, &s, NULL);
    float *data = (float *)(uintptr_t)g->values[v].data;
    for (int64_t i = 0; i < ig_count(&s); i++) data[i] = (float)(i % 7 - 3);
    return v;
}

static inline struct ig_window tiny_window(int32_t k, int32_t stride, int32_t pad)
{
    return (struct ig_window){1, k, k, 1, stride, stride, 1, 1, 1, 0, pad, pad, 0, pad, pad, 1, 1};
}

/* conv 3x3 + clip(-inf, 1e38), max pool 2x2, affine with a denormal, flatten, fc; prepared for planning. */
static inline struct ig_graph *tiny_net(void)
{
    struct ig_graph *g = ig_graph_new("tiny");
    char why[512];
    g->channels_last = 1;
    g->opset = 13;
    g->onnx_nodes = 7;
    g->source_sha256 = ig_graph_strdup(g, "0123456789abcdef");
    struct ig_shape image = SHAPE(IG_F32, 1, 4, 4, 2), pooled = SHAPE(IG_F32, 1, 2, 2, 3),
                    scores = SHAPE(IG_F32, 1, 2);
    struct ig_shape scalar = {IG_I64, 0, {1, 1, 1, 1, 1, 1, 1, 1}};
    int32_t x = ig_add_value(g, TINY_NAME, &image);
    ig_add_input(g, x);
    int32_t w = tiny_const(g, "w", SHAPE(IG_F32, 3, 2, 3, 3)), b = tiny_const(g, "b", SHAPE(IG_F32, 3));
    int32_t y = tiny_node(g, "conv \"*/", IG_CONV,
                          (union ig_attrs){.conv = {tiny_window(3, 1, 1), 1, {IG_CLIP, -INFINITY, 1e38f}}},
                          SHAPE(IG_F32, 1, 4, 4, 3), 3, (int32_t[]){x, w, b});
    y = tiny_node(g, "pool", IG_POOL,
                  (union ig_attrs){.pool = {.w = tiny_window(2, 2, 0), .kind = IG_POOL_MAX}}, pooled, 1, &y);
    y = tiny_node(g, "affine", IG_UNARY, (union ig_attrs){.unary = {{IG_AFFINE, 0.1f, 1e-45f}}}, pooled, 1,
                  &y);
    y = tiny_node(g, "flat", IG_RESHAPE, (union ig_attrs){.axis = {0, 0}}, SHAPE(IG_F32, 1, 12), 1, &y);
    w = tiny_const(g, "fw", SHAPE(IG_F32, 2, 12));
    y = tiny_node(g, "scores\\", IG_FC, (union ig_attrs){.fc = {{IG_NONE, 0, 0}}}, scores, 2,
                  (int32_t[]){y, w});
    int32_t half =
        tiny_node(g, "half", IG_CAST, (union ig_attrs){.axis = {0, 0}}, SHAPE(IG_F16, 1, 2), 1, &y);
    int32_t best =
        tiny_node(g, "arg", IG_ARG, (union ig_attrs){.arg = {1, 0, 0}}, SHAPE(IG_I64, 1, 1), 1, &y);
    best = tiny_node(g, "best", IG_RESHAPE, (union ig_attrs){.axis = {0, 0}}, scalar, 1, &best);
    ig_add_output(g, y);
    ig_add_output(g, half);
    ig_add_output(g, best);
    if (ig_graph_sort(g, why, sizeof why)) abort();
    ig_prepare_views(g);
    ig_count_macs(g);
    if (ig_graph_check(g, why, sizeof why)) {
        fprintf(stderr, "%s\n", why);
        abort();
    }
    return g;
}

/* A plan of reference kernels on one thread, its predictions round numbers: it does not move when estimates
 * do. bands: enum ig_band_choice, off or all. */
static inline struct ig_plan *tiny_plan(const struct ig_graph *g, int32_t bands)
{
    char why[1024];
    const struct ig_plan_options o = {.target = "host", .isa = IG_ISA_REF, .threads = 1, .bands = bands};
    struct ig_plan *p = ig_plan_make(g, &o, why, sizeof why);
    if (p && !ig_validate(g, p, 0, why, sizeof why)) {
        for (int32_t i = 0; i < p->n_steps; i++) p->steps[i].predicted_ns = 1000 * (i + 1);
        return p;
    }
    fprintf(stderr, "%s\n", why);
    abort();
}

static inline struct ig_plan *plain_plan(const struct ig_graph *g)
{
    return tiny_plan(g, IG_BANDS_OFF);
}

/* The tables of that plan, weights hashed. */
static inline struct ig_lowered *plain_tables(const struct ig_graph *g, const struct ig_plan *p)
{
    struct ig_lowered *l = ig_lower(g, p);
    void *blob = aligned_alloc(64, ((size_t)l->model.weights_bytes + 63) / 64 * 64);
    if (!blob) abort();
    memset(blob, 0, (size_t)l->model.weights_bytes);
    ig_fill_weights(l, blob);
    free(blob);
    return l;
}

#endif
