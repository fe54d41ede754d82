/* Tests of passes: terse nodes on channels-last graphs, and a pass that must keep the numbers. */
#ifndef TESTS_SUPPORT_IMPROVE_H
#define TESTS_SUPPORT_IMPROVE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "kernels_cpu/eval.h"
#include "tests/support/builder.h"

typedef int pass_fn(struct ig_graph *g);

/* A channels-last graph without nodes. */
static inline struct ig_graph *empty(void) {
    struct ig_graph *g = ig_graph_new("g");
    g->channels_last = 1;
    return g;
}

/* Runs the pass; the graph must stay well formed and give the same results, within a share. Returns the number of rewrites. */
static inline int improve_within(struct ig_graph *g, pass_fn *pass, double share) {
    char err[512];
    struct ig_graph *before = ig_graph_clone(g);
    if (ig_graph_check(g, err, sizeof err)) fail_msg("before: %s", err);
    int rewrites = pass(g);
    if (ig_graph_check(g, err, sizeof err)) fail_msg("after: %s", err);
    assert_true(interp_agree(before, ig_ref_eval, g, ig_ref_eval, share));
    ig_graph_free(before);
    return rewrites;
}

static inline int improve(struct ig_graph *g, pass_fn *pass) {
    return improve_within(g, pass, 2e-5);
}

/* The same until nothing changes. */
static inline int improve_fully(struct ig_graph *g, pass_fn *pass) {
    int sum = 0;
    for (int n = 1; n; sum += n)
        n = improve(g, pass);
    return sum;
}

/* The input [1,6,5,4]. */
static inline int32_t image(struct ig_graph *g) {
    return build_input(g, "x", DIMS(1, 6, 5, 4));
}

static inline int32_t act(struct ig_graph *g, int32_t kind, float alpha, float beta, int32_t x) {
    return build_1(g, IG_UNARY, ACT(.kind = kind, .alpha = alpha, .beta = beta), x);
}

static inline int32_t binary(struct ig_graph *g, int32_t kind, int32_t a, int32_t b) {
    return build_2(g, IG_BINARY, BIN(kind), a, b);
}

static inline int32_t fc(struct ig_graph *g, int32_t x, int32_t n) {
    int32_t k = g->values[x].shape.dims[1];
    return build_node(g, IG_FC, NULL, 3, (int32_t[]){x, build_const(g, DIMS(n, k)), build_const(g, DIMS(n))},
                      NULL);
}

#endif
