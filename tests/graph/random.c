/*
 * Random graphs in ONNX's layout, with reshapes, transposes and broadcasting in odd places: the layout pass,
 * and all passes, keep their results. INGOT_SEED=n runs the one graph of seed n.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "tests/support/builder.h"
#include "tests/support/nchw.h"

enum { GRAPHS = 400, NODES = 14, MOST_ELEMENTS = 3000 };

struct maker {
    struct rng r;
    struct ig_graph *g;
    int32_t made[NODES + 2]; /* values to choose from */
    int n;
};

static const struct ig_shape *shape_of(const struct maker *m, int32_t v) {
    return &m->g->values[v].shape;
}

static int32_t unary(struct maker *m, int32_t x) {
    int32_t kind = RNG_OF(&m->r, IG_RELU, IG_CLIP, IG_SIGMOID, IG_TANH, IG_AFFINE, IG_NEG, IG_HARD_SIGMOID);
    return build_1(m->g, IG_UNARY, ACT(.kind = kind, .alpha = 0.25f, .beta = 0.5f), x);
}

static int32_t permute(struct maker *m, int32_t x) {
    union ig_attrs a = {.transpose = {{0}}};
    int rank = shape_of(m, x)->rank;
    for (int i = 0; i < rank; i++) {
        int k = rng_int(&m->r, 0, i);
        a.transpose.perm[i] = a.transpose.perm[k];
        a.transpose.perm[k] = i;
    }
    if (rank == 4 && rng_one_in(&m->r, 2))
        a = rng_one_in(&m->r, 2) ? (union ig_attrs){.transpose = {{0, 2, 3, 1}}}
                                 : (union ig_attrs){.transpose = {{0, 3, 1, 2}}};
    return build_1(m->g, IG_TRANSPOSE, &a, x);
}

/* The dims of x split and merged at random; back to rank 4 half of the time. */
static int32_t reshape(struct maker *m, int32_t x) {
    int64_t left = ig_count(shape_of(m, x));
    int rank = rng_one_in(&m->r, 2) ? 4 : rng_int(&m->r, 1, 5);
    int32_t dims[8], split = RNG_OF(&m->r, 1, 2, 3, 4, 5, 6, 8);
    for (int i = 0; i < rank - 1; i++) {
        while (left % split)
            split--;
        dims[i] = i == 0 && rank == 4 ? 1 : split;
        left /= dims[i];
        split = RNG_OF(&m->r, 1, 2, 3, 4, 5, 6, 8);
    }
    dims[rank - 1] = (int32_t)left;
    return build_reshape(m->g, x, rank, dims);
}

/* x and a constant, an earlier value of its shape, or x reduced: all broadcast to x. */
static int32_t binary(struct maker *m, int32_t x) {
    struct ig_shape s = *shape_of(m, x);
    int32_t other = -1, kind = RNG_OF(&m->r, IG_ADD, IG_SUB, IG_MUL, IG_MAX, IG_MIN);
    for (int i = 0; i < m->n && rng_one_in(&m->r, 2); i++)
        if (m->made[i] != x && !memcmp(shape_of(m, m->made[i]), &s, sizeof s)) other = m->made[i];
    if (other < 0 && rng_one_in(&m->r, 4)) {
        int32_t mask = rng_int(&m->r, 1, (1 << s.rank) - 1);
        other = build_1(m->g, IG_REDUCE, ATTRS(.reduce = {.kind = IG_REDUCE_MEAN, .mask = mask}), x);
    }
    if (other < 0) {
        int cut = rng_int(&m->r, 0, s.rank - 1);
        for (int i = 0; i < s.rank; i++)
            if (rng_one_in(&m->r, 2)) s.dims[i] = 1;
        other = build_const(m->g, s.rank - cut, s.dims + cut);
    }
    return rng_one_in(&m->r, 2) ? build_2(m->g, IG_BINARY, BIN(kind), x, other)
                                : build_2(m->g, IG_BINARY, BIN(kind), other, x);
}

static int32_t along_axis(struct maker *m, int32_t x) {
    int32_t axis = rng_int(&m->r, 0, shape_of(m, x)->rank - 1);
    struct ig_shape half = *shape_of(m, x);
    union ig_attrs cut = {.slice = {.step = {1, 1, 1, 1, 1, 1, 1, 1}}}, pad = {.pad = {.value = 0}};
    switch (rng_int(&m->r, 0, 4)) {
    case 0:
        return build_1(m->g, IG_SOFTMAX, ATTRS(.axis = {.axis = axis}), x);
    case 1:
        return build_1(m->g, IG_CUMSUM, ATTRS(.cumsum = {.axis = axis}), x);
    case 2:
        return build_2(m->g, IG_CONCAT, ATTRS(.axis = {.axis = axis}), x, x);
    case 3:
        half.dims[axis] = (half.dims[axis] + 1) / 2;
        cut.slice.start[axis] = shape_of(m, x)->dims[axis] - half.dims[axis];
        return build_node(m->g, IG_SLICE, &cut, 1, &x, &half);
    default:
        pad.pad.begin[axis] = 1;
        return build_1(m->g, IG_PAD, &pad, x);
    }
}

static int32_t spatial(struct maker *m, int32_t x) {
    const struct ig_shape s = *shape_of(m, x);
    if (s.rank != 4 || s.dims[0] != 1) return reshape(m, x);
    int fits = s.dims[2] > 2 && s.dims[3] > 2;
    if (fits && rng_one_in(&m->r, 4))
        return build_1(m->g, IG_POOL, ATTRS(.pool = {.w = build_window(3, 1, 1)}), x);
    int32_t groups = rng_one_in(&m->r, 3) ? s.dims[1] : 1;
    return build_conv(m->g, x, groups * rng_int(&m->r, 1, groups > 1 ? 2 : 6), fits ? 3 : 1, 1, fits ? 1 : 0,
                      groups);
}

static int32_t any_node(struct maker *m, int32_t x) {
    switch (rng_int(&m->r, 0, 9)) {
    case 0:
        return unary(m, x);
    case 1:
    case 2:
        return permute(m, x);
    case 3:
        return reshape(m, x);
    case 4:
    case 5:
        return binary(m, x);
    case 6:
        return along_axis(m, x);
    default:
        return spatial(m, x);
    }
}

static struct ig_graph *random_graph(uint64_t seed) {
    struct maker m = {.r = {seed}, .g = ig_graph_new("random")};
    m.made[m.n++] = build_input(m.g, "x", DIMS(1, 4, 5, 3));
    m.made[m.n++] = build_input(m.g, "z", DIMS(1, 6, 2, 4));
    for (int i = 0; i < NODES; i++) {
        int32_t x = m.made[rng_one_in(&m.r, 3) ? rng_int(&m.r, 0, m.n - 1) : m.n - 1];
        int32_t y = any_node(&m, x);
        if (ig_count(shape_of(&m, y)) <= MOST_ELEMENTS) m.made[m.n++] = y;
    }
    build_output(m.g, m.made[m.n - 1], "last");
    if (m.made[m.n / 2] != m.made[m.n - 1] && m.n / 2 > 1) build_output(m.g, m.made[m.n / 2], "middle");
    return m.g;
}

static void one_graph(uint64_t seed) {
    char err[512];
    struct ig_graph *plain = random_graph(seed), *laid = ig_graph_clone(plain),
                    *small = ig_graph_clone(plain);
    if (ig_graph_check(plain, err, sizeof err)) fail_msg("seed %llu: %s", (unsigned long long)seed, err);
    ig_graph_sweep(laid);
    ig_pass_layout(laid);
    if (ig_graph_check(laid, err, sizeof err))
        fail_msg("seed %llu, layout: %s", (unsigned long long)seed, err);
    if (!interp_agree(plain, eval_nchw, laid, ig_ref_eval, 2e-4))
        fail_msg("seed %llu: the layout pass changes the results", (unsigned long long)seed);
    if (ig_run_passes(small, ig_ref_eval, err, sizeof err))
        fail_msg("seed %llu: %s", (unsigned long long)seed, err);
    if (!interp_agree(plain, eval_nchw, small, ig_ref_eval, 2e-4))
        fail_msg("seed %llu: the passes change the results", (unsigned long long)seed);
    ig_graph_free(small);
    ig_graph_free(laid);
    ig_graph_free(plain);
}

static void random_graphs_keep_their_results(void **state) {
    (void)state;
    const char *only = getenv("INGOT_SEED");
    if (only) {
        one_graph(strtoull(only, NULL, 10));
        return;
    }
    for (uint64_t seed = 1; seed <= GRAPHS; seed++)
        one_graph(seed);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(random_graphs_keep_their_results)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
