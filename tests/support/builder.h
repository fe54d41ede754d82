/* Graphs by hand, for tests: one line an input, constant or node; shapes are inferred. */
#ifndef TESTS_SUPPORT_BUILDER_H
#define TESTS_SUPPORT_BUILDER_H

#include <stdlib.h>

#include "tests/support/interp.h"

#define DIMS(...)                                                                                            \
    (int)(sizeof((int32_t[]){__VA_ARGS__}) / 4), (int32_t[]) {                                               \
        __VA_ARGS__                                                                                          \
    }
#define ATTRS(...)                                                                                           \
    &(const union ig_attrs) {                                                                                \
        __VA_ARGS__                                                                                          \
    }
#define ACT(...) ATTRS(.unary.act = {__VA_ARGS__})
#define BIN(which) ATTRS(.binary.kind = which)

static inline struct ig_shape build_shape(int32_t type, int32_t rank, const int32_t *dims) {
    struct ig_shape s = {type, rank, {1, 1, 1, 1, 1, 1, 1, 1}};
    for (int i = 0; i < rank; i++)
        s.dims[i] = dims[i];
    return s;
}

/* A graph input of type f32: build_input(g, "x", DIMS(1, 3, 8, 8)). */
static inline int32_t build_input(struct ig_graph *g, const char *name, int32_t rank, const int32_t *dims) {
    struct ig_shape s = build_shape(IG_F32, rank, dims);
    int32_t v = ig_add_value(g, name, &s);
    ig_add_input(g, v);
    return v;
}

/* An f32 constant of random elements, another one for every call. */
static inline int32_t build_const(struct ig_graph *g, int32_t rank, const int32_t *dims) {
    struct ig_shape s = build_shape(IG_F32, rank, dims);
    int32_t v = ig_add_const(g, "c", &s, NULL);
    interp_fill(&s, 1000 + (uint64_t)v, (void *)(uintptr_t)g->values[v].data);
    return v;
}

/* A scalar f32 constant. */
static inline int32_t build_scalar(struct ig_graph *g, float x) {
    struct ig_shape s = build_shape(IG_F32, 0, NULL);
    return ig_add_const(g, "c", &s, &x);
}

/* A node whose output has the shape `given`, or NULL: the inferred one, of type f32. Returns the output. */
static inline int32_t build_node(struct ig_graph *g, enum ig_op op, const union ig_attrs *attrs, int n_in,
                                 const int32_t *in, const struct ig_shape *given) {
    struct ig_shape start = given ? *given : build_shape(IG_F32, 0, NULL);
    char why[256];
    int32_t y = ig_add_value(g, "v", &start);
    struct ig_node *n = ig_add_node(g, NULL, op, n_in, 1);
    for (int k = 0; k < n_in; k++)
        n->in[k] = in[k];
    n->out[0] = y;
    if (attrs) n->attrs = *attrs;
    g->values[y].producer = g->n_nodes - 1;
    if (ig_infer(g, n, why, sizeof why)) {
        fprintf(stderr, "the test's own node '%s' is wrong: %s\n", n->name, why);
        abort();
    }
    return y;
}

static inline int32_t build_1(struct ig_graph *g, enum ig_op op, const union ig_attrs *attrs, int32_t x) {
    return build_node(g, op, attrs, 1, &x, NULL);
}

/* A node whose output has the shape of its input, where that cannot be inferred (a slice). */
static inline int32_t build_like(struct ig_graph *g, enum ig_op op, const union ig_attrs *attrs, int32_t x) {
    const struct ig_shape same = g->values[x].shape;
    return build_node(g, op, attrs, 1, &x, &same);
}

static inline int32_t build_2(struct ig_graph *g, enum ig_op op, const union ig_attrs *attrs, int32_t a,
                              int32_t b) {
    return build_node(g, op, attrs, 2, (int32_t[]){a, b}, NULL);
}

static inline int32_t build_reshape(struct ig_graph *g, int32_t x, int32_t rank, const int32_t *dims) {
    struct ig_shape s = build_shape(g->values[x].shape.type, rank, dims);
    return build_node(g, IG_RESHAPE, NULL, 1, &x, &s);
}

/* k x k window, stride s, padding p on all sides, for images of rank 4. */
static inline struct ig_window build_window(int32_t k, int32_t s, int32_t p) {
    return (struct ig_window){.kd = 1,
                              .kh = k,
                              .kw = k,
                              .sd = 1,
                              .sh = s,
                              .sw = s,
                              .dd = 1,
                              .dh = 1,
                              .dw = 1,
                              .top = p,
                              .left = p,
                              .bottom = p,
                              .right = p,
                              .in_d = 1,
                              .out_d = 1};
}

/* A convolution to oc channels with random weights and bias; x in the graph's layout. */
static inline int32_t build_conv(struct ig_graph *g, int32_t x, int32_t oc, int32_t k, int32_t s, int32_t p,
                                 int32_t groups) {
    const struct ig_shape *shape = &g->values[x].shape;
    int32_t ic = shape->dims[g->channels_last ? 3 : 1] / groups;
    int32_t in[3] = {x, build_const(g, DIMS(oc, ic, k, k)), build_const(g, DIMS(oc))};
    return build_node(g, IG_CONV, ATTRS(.conv = {.w = build_window(k, s, p), .groups = groups}), 3, in, NULL);
}

/* y becomes a graph output named `name`. */
static inline void build_output(struct ig_graph *g, int32_t y, const char *name) {
    g->values[y].name = ig_graph_strdup(g, name);
    ig_add_output(g, y);
}

/* How many nodes of op there are. */
static inline int build_count(const struct ig_graph *g, enum ig_op op) {
    int n = 0;
    for (int i = 0; i < g->n_nodes; i++)
        n += g->nodes[i].op == (int32_t)op;
    return n;
}

#endif
