/*
 * Graphs of floats between DequantizeLinear and QuantizeLinear, and what all passes make of them: run and compared with the float
 * graph, read plainly in ONNX's layout. Scales are powers of two, so that floats are exact and both give the same bits.
 */
#ifndef TESTS_SUPPORT_QUANTISED_H
#define TESTS_SUPPORT_QUANTISED_H

#include "tests/support/builder.h"
#include "tests/support/nchw.h"

/* All passes: 1 if both graphs then agree within `tolerance`. */
static inline int settles(struct ig_graph *g, double tolerance) {
    char err[512];
    struct ig_graph *before = ig_graph_clone(g);
    if (ig_graph_check(g, err, sizeof err)) fail_msg("before: %s", err);
    if (ig_run_passes(g, ig_ref_eval, err, sizeof err)) fail_msg("%s", err);
    int agree = interp_agree(before, eval_nchw, g, ig_ref_eval, tolerance);
    ig_graph_free(before);
    return agree;
}

static inline void settle(struct ig_graph *g, double tolerance) {
    assert_true(settles(g, tolerance));
}

/* How many nodes of each op are left: EXPECT(g, IG_QUANTIZE, 1, IG_CONV, 0). */
#define EXPECT(g, ...) expect(g, sizeof((int32_t[]){__VA_ARGS__}) / 8, (const int32_t[]){__VA_ARGS__})

static inline void expect(const struct ig_graph *g, size_t n, const int32_t *counts) {
    for (size_t i = 0; i < n; i++) {
        int found = build_count(g, (enum ig_op)counts[2 * i]);
        if (found != counts[2 * i + 1])
            fail_msg("%d nodes of %s, not %d", found, ig_op_info((enum ig_op)counts[2 * i])->name, counts[2 * i + 1]);
    }
}

static inline const struct ig_node *only(const struct ig_graph *g, enum ig_op op) {
    EXPECT(g, op, 1);
    for (int i = 0; i < g->n_nodes; i++)
        if (g->nodes[i].op == (int32_t)op) return &g->nodes[i];
    return NULL;
}

/* A constant of random bytes, or of small numbers of i32. */
static inline int32_t constant(struct ig_graph *g, int32_t type, int32_t rank, const int32_t *dims) {
    struct ig_shape s = build_shape(type, rank, dims);
    int32_t v = ig_add_const(g, "c", &s, NULL);
    void *data = (void *)(uintptr_t)g->values[v].data;
    struct rng r = {100 + (uint64_t)v};
    for (int64_t i = 0; i < ig_count(&s); i++) {
        if (type == IG_I32) ((int32_t *)data)[i] = rng_int(&r, -900, 900);
        else ((uint8_t *)data)[i] = (uint8_t)rng_int(&r, 0, 255);
    }
    return v;
}

/* n times the same byte. */
static inline int32_t constant_of(struct ig_graph *g, int32_t type, int32_t n, int32_t byte) {
    int32_t v = constant(g, type, DIMS(n));
    memset((void *)(uintptr_t)g->values[v].data, byte, (size_t)n);
    return v;
}

static inline int32_t zero_of(struct ig_graph *g, int32_t type, int32_t zero) {
    struct ig_shape s = build_shape(type, 0, NULL);
    int8_t byte = (int8_t)zero;
    return ig_add_const(g, "zero", &s, type == IG_I32 ? (const void *)&zero : (const void *)&byte);
}

static inline int32_t quantise_by(struct ig_graph *g, int32_t x, int32_t scale, int32_t zero) {
    int32_t in[3] = {x, scale, zero};
    return build_node(g, IG_QUANTIZE, NULL, 3, in, NULL);
}

static inline int32_t quantise(struct ig_graph *g, int32_t x, float scale, int32_t type, int32_t zero) {
    return quantise_by(g, x, build_scalar(g, scale), zero_of(g, type, zero));
}

static inline int32_t dequantise(struct ig_graph *g, int32_t x, float scale, int32_t zero) {
    int32_t in[3] = {x, build_scalar(g, scale), zero_of(g, g->values[x].shape.type, zero)};
    return build_node(g, IG_DEQUANTIZE, NULL, 3, in, NULL);
}

/* n scales: 2^e, 2^(e-1), 2^(e-2), 2^e, ... */
static inline int32_t powers(struct ig_graph *g, int32_t n, int e) {
    int32_t v = build_const(g, DIMS(n));
    for (int32_t i = 0; i < n; i++) ((float *)(uintptr_t)g->values[v].data)[i] = ldexpf(1, e - i % 3);
    return v;
}

/* A scale for each of n indices along an axis; no zeros. */
static inline int32_t dequantise_each(struct ig_graph *g, int32_t x, int32_t axis, int32_t n) {
    int32_t in[2] = {x, powers(g, n, -7)};
    return build_node(g, IG_DEQUANTIZE, ATTRS(.axis = {.axis = axis}), 2, in, NULL);
}

/* A scale for each of the n channels of x, and zeros. */
static inline int32_t quantise_each(struct ig_graph *g, int32_t x, int32_t n, int32_t zeros) {
    int32_t in[3] = {x, powers(g, n, -3), zeros};
    struct ig_shape bytes = g->values[x].shape;
    bytes.type = g->values[zeros].shape.type;
    return build_node(g, IG_QUANTIZE, ATTRS(.axis = {.axis = 1}), 3, in, &bytes);
}

/* There and back: what a quantising tool puts behind a tensor. */
static inline int32_t quantised(struct ig_graph *g, int32_t x, float scale, int32_t type, int32_t zero) {
    return dequantise(g, quantise(g, x, scale, type, zero), scale, zero);
}

static inline int32_t image(struct ig_graph *g) {
    return quantised(g, build_input(g, "x", DIMS(1, 6, 5, 4)), 1.0f / 64, IG_U8, 128);
}

static inline int32_t act(struct ig_graph *g, int32_t kind, float alpha, float beta, int32_t x) {
    return build_1(g, IG_UNARY, ACT(.kind = kind, .alpha = alpha, .beta = beta), x);
}

static inline int32_t conv_of(struct ig_graph *g, int32_t x, int32_t w, int32_t bias, int32_t groups) {
    int32_t in[3] = {x, w, bias};
    return build_node(g, IG_CONV, ATTRS(.conv = {.w = build_window(3, 1, 1), .groups = groups}), 3, in, NULL);
}

/* 6 to 4 channels. */
static inline int32_t conv(struct ig_graph *g, int32_t x) {
    return conv_of(g, x, dequantise(g, constant(g, IG_I8, DIMS(4, 6, 3, 3)), 1.0f / 128, 0), -1, 1);
}

static inline int32_t max_pool(struct ig_graph *g, int32_t x) {
    return build_1(g, IG_POOL, ATTRS(.pool = {.w = build_window(3, 1, 1), .p = 2}), x);
}

static inline void done(struct ig_graph *g, int32_t y) {
    build_output(g, y, "y");
    settle(g, 0);
}

#endif
