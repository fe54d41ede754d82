/*
 * Each pass does its rewrite, leaves alone what it must not touch, and keeps the numbers: the graph is run on the
 * reference kernels before and after.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "kernels_cpu/eval.h"
#include "tests/support/builder.h"

typedef int pass_fn(struct ig_graph *g);

static struct ig_graph *empty(void)
{
    struct ig_graph *g = ig_graph_new("g");
    g->channels_last = 1;
    return g;
}

/* Runs the pass; the graph must stay well formed and give the same results. Returns the number of rewrites. */
static int improve(struct ig_graph *g, pass_fn *pass)
{
    char err[512];
    struct ig_graph *before = ig_graph_clone(g);
    if (ig_graph_check(g, err, sizeof err)) fail_msg("before: %s", err);
    int rewrites = pass(g);
    if (ig_graph_check(g, err, sizeof err)) fail_msg("after: %s", err);
    assert_true(interp_agree(before, ig_ref_eval, g, ig_ref_eval, 2e-5));
    ig_graph_free(before);
    return rewrites;
}

/* The same until nothing changes. */
static int improve_fully(struct ig_graph *g, pass_fn *pass)
{
    int sum = 0;
    for (int n = 1; n; sum += n) n = improve(g, pass);
    return sum;
}

static int all_passes(struct ig_graph *g)
{
    char err[512];
    if (ig_run_passes(g, ig_ref_eval, err, sizeof err)) fail_msg("%s", err);
    return 0;
}

static int fold_constants(struct ig_graph *g)
{
    return ig_pass_fold_constants(g, ig_ref_eval);
}

static int32_t image(struct ig_graph *g)
{
    return build_input(g, "x", DIMS(1, 6, 5, 4));
}

static int32_t act(struct ig_graph *g, int32_t kind, float alpha, float beta, int32_t x)
{
    return build_1(g, IG_UNARY, ACT(.kind = kind, .alpha = alpha, .beta = beta), x);
}

static int32_t binary(struct ig_graph *g, int32_t kind, int32_t a, int32_t b)
{
    return build_2(g, IG_BINARY, BIN(kind), a, b);
}

static int32_t fc(struct ig_graph *g, int32_t x, int32_t n)
{
    int32_t k = g->values[x].shape.dims[1];
    return build_node(g, IG_FC, NULL, 3, (int32_t[]){x, build_const(g, DIMS(n, k)), build_const(g, DIMS(n))}, NULL);
}

static int32_t deconv(struct ig_graph *g, int32_t x, int32_t oc, int32_t groups)
{
    int32_t ic = g->values[x].shape.dims[3], in[2] = {x, build_const(g, DIMS(ic, oc / groups, 3, 3))};
    return build_node(g, IG_DECONV, ATTRS(.conv = {.w = build_window(3, 2, 1), .groups = groups}), 2, in, NULL);
}

static int32_t pad(struct ig_graph *g, int32_t x, float value)
{
    return build_1(g, IG_PAD, ATTRS(.pad = {.begin = {0, 1, 0, 0}, .end = {0, 2, 1, 0}, .value = value}), x);
}

static const struct ig_node *last(const struct ig_graph *g)
{
    return &g->nodes[g->n_nodes - 1];
}

/* --- identity --- */

static void identities_go(void **state)
{
    (void)state;
    struct ig_graph *g = empty();
    int32_t x = act(g, IG_ABS, 0, 0, image(g)), a = act(g, IG_NONE, 0, 0, x);
    a = build_like(g, IG_SLICE, ATTRS(.slice = {.step = {1, 1, 1, 1}}), a);
    a = build_1(g, IG_PAD, ATTRS(.pad = {.value = 1}), a);
    a = build_reshape(g, a, DIMS(1, 6, 5, 4));
    a = build_1(g, IG_CAST, NULL, a);
    a = build_1(g, IG_CONCAT, ATTRS(.axis = {.axis = 1}), a);
    a = build_1(g, IG_POOL, ATTRS(.pool = {.w = build_window(1, 1, 0)}), a);
    a = binary(g, IG_MUL, build_scalar(g, 1), a);
    a = binary(g, IG_SUB, a, build_scalar(g, 0));
    build_output(g, build_1(g, IG_TRANSPOSE, ATTRS(.transpose = {.perm = {0, 1, 2, 3}}), a), "y");
    assert_int_equal(improve_fully(g, ig_pass_identity), 10);
    assert_int_equal(g->n_nodes, 1);
    assert_string_equal(g->values[g->outputs[0]].name, "y");
    ig_graph_free(g);
}

static void lookalikes_of_identities_stay(void **state)
{
    (void)state;
    struct ig_graph *g = empty();
    int32_t x = act(g, IG_ABS, 0, 0, build_input(g, "x", DIMS(1, 5, 5, 4)));
    build_output(g, build_like(g, IG_SLICE, ATTRS(.slice = {.start = {0, 4}, .step = {1, -1, 1, 1}}), x), "flip");
    build_output(g, build_1(g, IG_TRANSPOSE, ATTRS(.transpose = {.perm = {0, 2, 1, 3}}), x), "turn");
    build_output(g, binary(g, IG_SUB, build_scalar(g, 0), x), "negate");
    build_output(g, binary(g, IG_DIV, build_scalar(g, 1), act(g, IG_AFFINE, 1, 1, x)), "reciprocal");
    int32_t same = act(g, IG_NONE, 0, 0, g->inputs[0]);
    build_output(g, same, "input_as_output");
    assert_int_equal(improve(g, ig_pass_identity), 0);
    ig_graph_free(g);
}

static void pairs_of_transposes_merge(void **state)
{
    (void)state;
    struct ig_graph *g = empty();
    int32_t x = image(g), a = build_1(g, IG_TRANSPOSE, ATTRS(.transpose = {.perm = {0, 3, 1, 2}}), x);
    int32_t b = build_1(g, IG_TRANSPOSE, ATTRS(.transpose = {.perm = {0, 2, 3, 1}}), a);
    build_output(g, act(g, IG_RELU, 0, 0, b), "back");
    build_output(g, build_1(g, IG_TRANSPOSE, ATTRS(.transpose = {.perm = {0, 1, 3, 2}}), a), "on");
    improve_fully(g, ig_pass_identity);
    assert_int_equal(build_count(g, IG_TRANSPOSE), 1);
    ig_graph_free(g);
}

static void a_transpose_of_size_1_dims_is_a_reshape(void **state)
{
    (void)state;
    struct ig_graph *g = empty();
    int32_t x = build_input(g, "x", DIMS(1, 1, 1, 4));
    int32_t a = build_1(g, IG_TRANSPOSE, ATTRS(.transpose = {.perm = {0, 3, 1, 2}}), x);
    build_output(g, build_reshape(g, a, DIMS(1, 4)), "y");
    improve_fully(g, ig_pass_identity);
    assert_int_equal(g->n_nodes, 1);
    assert_int_equal(g->nodes[0].op, IG_RESHAPE);
    ig_graph_free(g);
}

/* --- fold_affine --- */

/* producer, then mul, add, sub, div and neg on it: all gone. */
static void affine_after(struct ig_graph *g, int32_t y)
{
    const struct ig_shape *s = &g->values[y].shape;
    int32_t c = s->dims[s->rank - 1];
    y = binary(g, IG_MUL, y, build_const(g, DIMS(c)));
    y = binary(g, IG_ADD, build_const(g, DIMS(1, c)), y);
    y = binary(g, IG_SUB, build_const(g, DIMS(c)), y);
    y = binary(g, IG_DIV, y, build_scalar(g, 3));
    y = binary(g, IG_SUB, y, build_const(g, DIMS(c)));
    build_output(g, act(g, IG_NEG, 0, 0, y), "y");
    assert_true(improve_fully(g, ig_pass_fold_affine) > 0);
    assert_int_equal(g->n_nodes, 1);
    ig_graph_free(g);
}

static void affine_folds_into_the_op_before(void **state)
{
    (void)state;
    struct ig_graph *g = empty();
    affine_after(g, build_conv(g, image(g), 6, 3, 1, 1, 2));
    g = empty();
    affine_after(g, deconv(g, image(g), 6, 2)); /* without a bias */
    g = empty();
    affine_after(g, fc(g, build_input(g, "x", DIMS(2, 7)), 5));
}

static void affine_folds_into_the_op_after(void **state)
{
    (void)state;
    struct ig_graph *g = empty();
    int32_t x = binary(g, IG_ADD, binary(g, IG_MUL, image(g), build_const(g, DIMS(4))), build_const(g, DIMS(4)));
    build_output(g, build_conv(g, x, 6, 3, 1, 0, 2), "y");
    improve_fully(g, ig_pass_fold_affine);
    assert_int_equal(g->n_nodes, 1);
    ig_graph_free(g);
    g = empty();
    x = binary(g, IG_SUB, build_input(g, "x", DIMS(3, 4)), build_const(g, DIMS(4)));
    build_output(g, fc(g, x, 2), "y");
    improve_fully(g, ig_pass_fold_affine);
    assert_int_equal(g->n_nodes, 1);
    ig_graph_free(g);
}

static void padding_keeps_an_offset_out(void **state)
{
    (void)state;
    struct ig_graph *g = empty();
    int32_t x = binary(g, IG_MUL, binary(g, IG_ADD, image(g), build_const(g, DIMS(4))), build_const(g, DIMS(4)));
    build_output(g, build_conv(g, x, 6, 3, 1, 1, 1), "y");
    improve_fully(g, ig_pass_fold_affine);
    assert_int_equal(g->n_nodes, 2); /* x' + offset, and the convolution with the scale in it */
    assert_int_equal(g->nodes[0].attrs.binary.kind, IG_ADD);
    ig_graph_free(g);
}

static void affine_respects_other_readers(void **state)
{
    (void)state;
    struct ig_graph *g = empty();
    int32_t a = build_conv(g, image(g), 6, 3, 1, 1, 1), b = build_conv(g, g->inputs[0], 6, 1, 1, 0, 1);
    build_output(g, binary(g, IG_MUL, a, build_const(g, DIMS(6))), "y");
    build_output(g, act(g, IG_SIN, 0, 0, a), "other"); /* a is read twice */
    build_output(g, b, "out");                         /* b is an output */
    build_output(g, binary(g, IG_MUL, b, build_const(g, DIMS(6))), "z");
    assert_int_equal(improve(g, ig_pass_fold_affine), 0);
    ig_graph_free(g);
}

static void shared_weights_get_a_copy(void **state)
{
    (void)state;
    struct ig_graph *g = empty();
    int32_t x = image(g), a = build_conv(g, x, 6, 3, 1, 1, 1), in[3] = {x, g->nodes[0].in[1], g->nodes[0].in[2]};
    int32_t b = build_node(g, IG_CONV, &g->nodes[0].attrs, 3, in, NULL);
    build_output(g, binary(g, IG_MUL, a, build_const(g, DIMS(6))), "scaled");
    build_output(g, b, "plain");
    assert_int_equal(improve(g, ig_pass_fold_affine), 1);
    assert_int_not_equal(g->nodes[0].in[1], g->nodes[1].in[1]);
    ig_graph_free(g);
}

static void a_residual_is_not_scaled(void **state)
{
    (void)state;
    struct ig_graph *g = empty();
    int32_t x = image(g), in[4] = {x, build_const(g, DIMS(4, 4, 1, 1)), -1, x};
    int32_t a = build_node(g, IG_CONV, ATTRS(.conv = {.w = build_window(1, 1, 0), .groups = 1}), 4, in, NULL);
    int32_t b = binary(g, IG_ADD, a, build_const(g, DIMS(4)));
    build_output(g, binary(g, IG_MUL, b, build_const(g, DIMS(4))), "y");
    improve_fully(g, ig_pass_fold_affine);
    assert_int_equal(g->n_nodes, 2);
    assert_int_equal(last(g)->attrs.binary.kind, IG_MUL);
    ig_graph_free(g);
}

static void affine_chains_shrink(void **state)
{
    (void)state;
    struct ig_graph *g = empty();
    int32_t x = image(g), a = binary(g, IG_MUL, x, build_const(g, DIMS(4)));
    for (int i = 0; i < 3; i++) a = binary(g, i % 2 ? IG_MUL : IG_ADD, a, build_const(g, DIMS(4)));
    build_output(g, a, "vector");
    int32_t b = binary(g, IG_DIV, x, build_scalar(g, 255));
    build_output(g, binary(g, IG_SUB, b, build_scalar(g, 0.5f)), "scalar");
    build_output(g, binary(g, IG_MUL, binary(g, IG_ADD, x, build_const(g, DIMS(5, 4))), build_scalar(g, 2)), "plane");
    build_output(g, binary(g, IG_ADD, build_input(g, "c", DIMS(4)), build_const(g, DIMS(2, 4))), "grows");
    improve_fully(g, ig_pass_fold_affine);
    assert_int_equal(build_count(g, IG_BINARY), 2 + 1 + 1); /* mul, add; plane; grows */
    assert_int_equal(build_count(g, IG_UNARY), 2);          /* scalar; plane's factor */
    ig_graph_free(g);
}

/* --- matmul_to_fc, global_pool, fuse_pad, flatten_fc, fold_constants --- */

static void products_with_constants_become_fc(void **state)
{
    (void)state;
    struct ig_graph *g = empty();
    int32_t x = build_input(g, "x", DIMS(3, 5)), t = build_input(g, "t", DIMS(2, 6, 5));
    int32_t q = build_input(g, "q", DIMS(1, 3, 4, 5));
    build_output(g, build_2(g, IG_MATMUL, ATTRS(.matmul = {.alpha = 1}), x, build_const(g, DIMS(5, 7))), "fc");
    build_output(g, build_2(g, IG_MATMUL, ATTRS(.matmul = {.alpha = 0.5f, .trans_b = 1}), x, build_const(g, DIMS(7, 5))),
                 "fc_t");
    build_output(g, build_2(g, IG_MATMUL, ATTRS(.matmul = {.alpha = 1}), t, build_const(g, DIMS(5, 7))), "conv");
    build_output(g, build_2(g, IG_MATMUL, ATTRS(.matmul = {.alpha = 1}), q, build_const(g, DIMS(1, 1, 5, 7))), "conv_4");
    build_output(g, build_2(g, IG_MATMUL, ATTRS(.matmul = {.alpha = 1}), t, build_const(g, DIMS(2, 5, 7))), "stack");
    assert_int_equal(improve(g, ig_pass_matmul_to_fc), 4);
    assert_int_equal(build_count(g, IG_FC), 2);
    assert_int_equal(build_count(g, IG_CONV), 2);
    ig_graph_free(g);
}

static void whole_image_reductions_become_global_pools(void **state)
{
    (void)state;
    struct ig_graph *g = empty();
    int32_t x = build_input(g, "x", DIMS(2, 5, 5, 4));
    build_output(g, build_1(g, IG_REDUCE, ATTRS(.reduce = {.kind = IG_REDUCE_MEAN, .mask = 6}), x), "mean");
    build_output(g, build_1(g, IG_REDUCE, ATTRS(.reduce = {.kind = IG_REDUCE_MAX, .mask = 6}), x), "max");
    build_output(g, build_1(g, IG_REDUCE, ATTRS(.reduce = {.kind = IG_REDUCE_MEAN, .mask = 4}), x), "rows");
    build_output(g, build_1(g, IG_REDUCE, ATTRS(.reduce = {.kind = IG_REDUCE_SUM, .mask = 6}), x), "sum");
    build_output(g, build_1(g, IG_POOL, ATTRS(.pool = {.w = build_window(5, 1, 0), .kind = IG_POOL_AVERAGE}), x), "pool");
    build_output(g, build_1(g, IG_POOL, ATTRS(.pool = {.w = build_window(4, 1, 0), .kind = IG_POOL_AVERAGE}), x), "part");
    assert_int_equal(improve(g, ig_pass_global_pool), 3);
    assert_int_equal(build_count(g, IG_GLOBAL_POOL), 3);
    ig_graph_free(g);
}

static void pads_move_into_windows(void **state)
{
    (void)state;
    struct ig_graph *g = empty();
    int32_t x = image(g);
    union ig_attrs counted = {.pool = {.w = build_window(3, 1, 1), .kind = IG_POOL_AVERAGE, .count_include_pad = 1}};
    build_output(g, build_conv(g, pad(g, x, 0), 6, 3, 2, 1, 1), "conv");
    build_output(g, build_1(g, IG_POOL, ATTRS(.pool = {.w = build_window(3, 1, 0), .kind = IG_POOL_AVERAGE}), pad(g, x, 0)),
                 "average");
    build_output(g, build_1(g, IG_POOL, &counted, pad(g, x, 0)), "counted");
    assert_int_equal(improve(g, ig_pass_fuse_pad), 3);
    assert_int_equal(build_count(g, IG_PAD), 0);
    ig_graph_free(g);
}

static void pads_that_mean_something_else_stay(void **state)
{
    (void)state;
    struct ig_graph *g = empty();
    int32_t x = image(g), twice = pad(g, x, 0);
    build_output(g, build_conv(g, pad(g, x, 1), 6, 3, 2, 1, 1), "ones");
    build_output(g, build_1(g, IG_POOL, ATTRS(.pool = {.w = build_window(3, 1, 0)}), pad(g, x, 0)), "max");
    build_output(g, build_1(g, IG_POOL, ATTRS(.pool = {.w = build_window(3, 1, 1), .kind = IG_POOL_AVERAGE}), pad(g, x, 0)),
                 "uncounted");
    build_output(g, build_conv(g, twice, 6, 3, 1, 0, 1), "a");
    build_output(g, build_conv(g, twice, 6, 3, 1, 0, 1), "b");
    int32_t crop = build_1(g, IG_PAD, ATTRS(.pad = {.begin = {0, -1, 0, 0}, .end = {0, 1, 0, 0}}), x);
    build_output(g, build_conv(g, crop, 6, 3, 1, 0, 1), "crop");
    int32_t channels = build_1(g, IG_PAD, ATTRS(.pad = {.end = {0, 0, 0, 2}}), x);
    build_output(g, build_conv(g, channels, 6, 3, 1, 0, 1), "channels");
    assert_int_equal(improve(g, ig_pass_fuse_pad), 0);
    ig_graph_free(g);
}

static void flattening_permutes_the_weights(void **state)
{
    (void)state;
    for (int rows = 1; rows <= 2; rows++) {
        struct ig_graph *g = empty();
        int32_t x = build_input(g, "x", DIMS(rows, 3, 2, 5));
        int32_t t = build_1(g, IG_TRANSPOSE, ATTRS(.transpose = {.perm = {0, 3, 1, 2}}), x);
        int32_t flat = act(g, IG_RELU, 0, 0, build_reshape(g, t, DIMS(rows, 30)));
        build_output(g, fc(g, flat, 7), "y");
        assert_int_equal(improve(g, ig_pass_flatten_fc), 1);
        assert_int_equal(build_count(g, IG_TRANSPOSE), 0);
        ig_graph_free(g);
    }
}

static void flattening_stays_where_others_look_on(void **state)
{
    (void)state;
    struct ig_graph *g = empty();
    int32_t x = build_input(g, "x", DIMS(1, 3, 2, 5));
    int32_t t = build_1(g, IG_TRANSPOSE, ATTRS(.transpose = {.perm = {0, 3, 1, 2}}), x);
    int32_t flat = build_reshape(g, t, DIMS(1, 30));
    build_output(g, fc(g, flat, 7), "y");
    build_output(g, act(g, IG_RELU, 0, 0, flat), "flat");
    int32_t mixed = build_1(g, IG_TRANSPOSE, ATTRS(.transpose = {.perm = {1, 0, 2, 3}}), build_input(g, "z", DIMS(2, 3, 2, 5)));
    build_output(g, fc(g, build_reshape(g, mixed, DIMS(3, 20)), 4), "rows");
    assert_int_equal(improve(g, ig_pass_flatten_fc), 0);
    ig_graph_free(g);
}

static void constants_fold(void **state)
{
    (void)state;
    struct ig_graph *g = empty();
    int32_t c = build_const(g, DIMS(2, 3)), t = build_1(g, IG_TRANSPOSE, ATTRS(.transpose = {.perm = {1, 0}}), c);
    int32_t r = build_reshape(g, binary(g, IG_ADD, t, build_scalar(g, 1)), DIMS(6));
    build_output(g, binary(g, IG_MUL, r, build_input(g, "x", DIMS(6))), "y");
    assert_int_equal(improve(g, fold_constants), 3);
    assert_int_equal(g->n_nodes, 1);
    ig_graph_free(g);
}

/* --- residuals and activations --- */

static void sums_move_into_the_later_convolution(void **state)
{
    (void)state;
    struct ig_graph *g = empty();
    int32_t x = image(g), a = build_conv(g, x, 4, 1, 1, 0, 1), b = build_conv(g, a, 4, 3, 1, 1, 1);
    int32_t c = build_conv(g, x, 4, 1, 1, 0, 1);
    build_output(g, act(g, IG_RELU, 0, 0, binary(g, IG_ADD, c, b)), "y");
    assert_int_equal(improve(g, ig_pass_fuse_residual), 1);
    assert_int_equal(build_count(g, IG_BINARY), 0);
    assert_int_equal(improve(g, ig_pass_fuse_activation), 1);
    assert_int_equal(last(g)->op, IG_CONV);
    assert_int_equal(last(g)->n_in, 4);
    assert_int_equal(last(g)->attrs.conv.act.kind, IG_RELU);
    assert_int_equal(g->values[last(g)->in[0]].producer, -1); /* c, the last of the three, took the sum */
    ig_graph_free(g);
    g = empty();
    x = build_input(g, "x", DIMS(2, 5));
    build_output(g, binary(g, IG_ADD, x, fc(g, x, 5)), "y");
    assert_int_equal(improve(g, ig_pass_fuse_residual), 1);
    assert_int_equal(g->n_nodes, 1);
    ig_graph_free(g);
}

static void sums_stay_where_they_are_no_epilogue(void **state)
{
    (void)state;
    struct ig_graph *g = empty();
    int32_t x = image(g), active = build_conv(g, x, 4, 1, 1, 0, 1);
    g->nodes[0].attrs.conv.act.kind = IG_RELU;
    int32_t shared = build_conv(g, x, 4, 1, 1, 0, 1);
    build_output(g, binary(g, IG_ADD, active, x), "after_relu");
    build_output(g, binary(g, IG_ADD, shared, shared), "twice");
    build_output(g, binary(g, IG_ADD, build_conv(g, x, 4, 1, 1, 0, 1), build_input(g, "c", DIMS(4))), "broadcast");
    assert_int_equal(improve(g, ig_pass_fuse_residual), 0);
    ig_graph_free(g);
}

static void activations_move_into_epilogues(void **state)
{
    (void)state;
    struct ig_graph *g = empty();
    int32_t x = image(g), two[2] = {x, build_const(g, DIMS(1, 6, 5, 4))};
    build_output(g, act(g, IG_CLIP, 0, 6, build_conv(g, x, 6, 3, 1, 1, 1)), "conv");
    build_output(g, act(g, IG_LEAKY_RELU, 0.1f, 0, deconv(g, x, 6, 1)), "deconv");
    build_output(g, act(g, IG_SWISH, 1, 0, fc(g, build_reshape(g, x, DIMS(6, 20)), 3)), "fc");
    build_output(g, act(g, IG_TANH, 0, 0, binary(g, IG_SUB, two[0], two[1])), "binary");
    int32_t c = act(g, IG_CLIP, -INFINITY, 1, act(g, IG_RELU, 0, 0, build_conv(g, x, 6, 1, 1, 0, 1)));
    build_output(g, c, "relu_then_min");
    assert_int_equal(improve(g, ig_pass_fuse_activation), 6);
    assert_int_equal(build_count(g, IG_UNARY), 0);
    ig_graph_free(g);
}

static void other_functions_stay(void **state)
{
    (void)state;
    struct ig_graph *g = empty();
    int32_t x = image(g), a = build_conv(g, x, 6, 1, 1, 0, 1);
    build_output(g, act(g, IG_GELU, 0, 0, build_conv(g, x, 6, 1, 1, 0, 1)), "gelu"); /* no epilogue of ours */
    build_output(g, act(g, IG_RELU, 0, 0, a), "relu");
    build_output(g, act(g, IG_SIGMOID, 0, 0, a), "sigmoid"); /* a is read twice */
    assert_int_equal(improve(g, ig_pass_fuse_activation), 0);
    ig_graph_free(g);
}

/* Composes f (built on x by `make`) until it settles; one UNARY of `kind` must be left. */
static void composes(int32_t (*make)(struct ig_graph *, int32_t), int32_t kind)
{
    struct ig_graph *g = empty();
    build_output(g, make(g, image(g)), "y");
    for (int n = 1; n;) n = improve(g, ig_pass_compose) + improve(g, ig_pass_fold_affine) + improve(g, ig_pass_identity);
    assert_int_equal(g->n_nodes, 1);
    assert_int_equal(g->nodes[0].op, IG_UNARY);
    assert_int_equal(g->nodes[0].attrs.unary.act.kind, kind);
    ig_graph_free(g);
}

static int32_t relu_by_max(struct ig_graph *g, int32_t x) { return binary(g, IG_MAX, build_scalar(g, 0), x); }

static int32_t relu6_by_min(struct ig_graph *g, int32_t x)
{
    return binary(g, IG_MIN, act(g, IG_RELU, 0, 0, x), build_scalar(g, 6));
}

static int32_t leaky_by_prelu(struct ig_graph *g, int32_t x) { return binary(g, IG_PRELU, x, build_scalar(g, 0.25f)); }

static int32_t swish(struct ig_graph *g, int32_t x) { return binary(g, IG_MUL, act(g, IG_SIGMOID, 0, 0, x), x); }

static int32_t scaled_swish(struct ig_graph *g, int32_t x)
{
    int32_t s = act(g, IG_SIGMOID, 0, 0, binary(g, IG_MUL, x, build_scalar(g, 1.702f)));
    return binary(g, IG_MUL, x, s);
}

static int32_t hard_sigmoid(struct ig_graph *g, int32_t x)
{
    return binary(g, IG_DIV, act(g, IG_CLIP, 0, 6, binary(g, IG_ADD, x, build_scalar(g, 3))), build_scalar(g, 6));
}

static int32_t hard_swish(struct ig_graph *g, int32_t x) { return binary(g, IG_MUL, x, hard_sigmoid(g, x)); }

static int32_t hard_swish_divided_last(struct ig_graph *g, int32_t x)
{
    int32_t c = act(g, IG_CLIP, 0, 6, binary(g, IG_ADD, x, build_scalar(g, 3)));
    return binary(g, IG_DIV, binary(g, IG_MUL, x, c), build_scalar(g, 6));
}

static int32_t hard_swish_by_onnx(struct ig_graph *g, int32_t x)
{
    return binary(g, IG_MUL, act(g, IG_HARD_SIGMOID, 1 / 6.f, 0.5f, x), x);
}

static int32_t mish(struct ig_graph *g, int32_t x)
{
    return binary(g, IG_MUL, x, act(g, IG_TANH, 0, 0, act(g, IG_SOFTPLUS, 0, 0, x)));
}

static int32_t one_plus_erf(struct ig_graph *g, int32_t x)
{
    return binary(g, IG_ADD, act(g, IG_ERF, 0, 0, binary(g, IG_DIV, x, build_scalar(g, 1.41421356f))), build_scalar(g, 1));
}

static int32_t gelu(struct ig_graph *g, int32_t x)
{
    return binary(g, IG_MUL, binary(g, IG_MUL, x, one_plus_erf(g, x)), build_scalar(g, 0.5f));
}

static int32_t gelu_halved_first(struct ig_graph *g, int32_t x)
{
    return binary(g, IG_MUL, binary(g, IG_MUL, x, build_scalar(g, 0.5f)), one_plus_erf(g, x));
}

static void functions_are_recognised(void **state)
{
    (void)state;
    composes(relu_by_max, IG_RELU);
    composes(relu6_by_min, IG_CLIP);
    composes(leaky_by_prelu, IG_LEAKY_RELU);
    composes(swish, IG_SWISH);
    composes(scaled_swish, IG_SWISH);
    composes(hard_sigmoid, IG_HARD_SIGMOID);
    composes(hard_swish, IG_HARD_SWISH);
    composes(hard_swish_divided_last, IG_HARD_SWISH);
    composes(hard_swish_by_onnx, IG_HARD_SWISH);
    composes(mish, IG_MISH);
    composes(gelu, IG_GELU);
    composes(gelu_halved_first, IG_GELU);
}

static void lookalikes_of_functions_stay(void **state)
{
    (void)state;
    struct ig_graph *g = empty();
    int32_t x = image(g), z = build_input(g, "z", DIMS(1, 6, 5, 4)), s = act(g, IG_SIGMOID, 0, 0, x);
    build_output(g, binary(g, IG_MUL, act(g, IG_SIGMOID, 0, 0, z), x), "gate");     /* of another tensor */
    build_output(g, binary(g, IG_MUL, act(g, IG_HARD_SIGMOID, 0.2f, 0.5f, x), x), "slope"); /* not 1/6 */
    build_output(g, binary(g, IG_MUL, s, x), "swish");
    build_output(g, act(g, IG_SIN, 0, 0, s), "s"); /* the sigmoid is wanted as well */
    assert_int_equal(improve(g, ig_pass_compose), 0);
    ig_graph_free(g);
}

/* --- all of them --- */

/* A little of everything, in ONNX's layout: batch norm, residual, squeeze and excite, hard swish, flatten, fc. */
static struct ig_graph *network(void)
{
    struct ig_graph *g = ig_graph_new("net");
    int32_t x = build_input(g, "x", DIMS(1, 3, 12, 10));
    int32_t a = build_conv(g, x, 8, 3, 2, 1, 1);
    a = binary(g, IG_MUL, a, build_const(g, DIMS(8, 1, 1)));
    a = act(g, IG_RELU, 0, 0, binary(g, IG_ADD, a, build_const(g, DIMS(8, 1, 1))));
    int32_t b = hard_swish(g, build_conv(g, a, 8, 3, 1, 1, 8));
    int32_t m = build_1(g, IG_REDUCE, ATTRS(.reduce = {.kind = IG_REDUCE_MEAN, .mask = 12}), b);
    b = binary(g, IG_MUL, b, hard_sigmoid(g, build_conv(g, m, 8, 1, 1, 0, 1)));
    b = binary(g, IG_ADD, build_conv(g, b, 8, 1, 1, 0, 1), a);
    int32_t c = build_2(g, IG_CONCAT, ATTRS(.axis = {.axis = 1}), act(g, IG_RELU, 0, 0, b), a);
    int32_t w = build_const(g, DIMS(480, 6)), flat = build_reshape(g, c, DIMS(1, 480));
    int32_t y = build_2(g, IG_MATMUL, ATTRS(.matmul = {.alpha = 1}), flat, w);
    y = binary(g, IG_ADD, y, build_const(g, DIMS(6)));
    build_output(g, build_1(g, IG_SOFTMAX, ATTRS(.axis = {.axis = 1}), y), "y");
    return g;
}

static void a_network_settles_in_its_smallest_form(void **state)
{
    (void)state;
    struct ig_graph *g = network(), *plain = network();
    ig_pass_layout(plain); /* tests/graph/layout.c shows that this keeps the numbers */
    all_passes(g);
    assert_true(interp_agree(plain, ig_ref_eval, g, ig_ref_eval, 2e-5));
    assert_int_equal(build_count(g, IG_CONV), 4);
    assert_int_equal(build_count(g, IG_UNARY), 0);
    assert_int_equal(build_count(g, IG_BINARY), 1); /* squeeze and excite */
    assert_int_equal(build_count(g, IG_TRANSPOSE), 1);
    assert_int_equal(build_count(g, IG_GLOBAL_POOL), 1);
    assert_true(g->nodes[1].macs == 6 * 5 * 8 * 27);
    ig_graph_free(plain);
    ig_graph_free(g);
}

static void passes_give_the_same_graph_again(void **state)
{
    (void)state;
    struct ig_graph *a = network(), *b = network();
    all_passes(a);
    all_passes(b);
    all_passes(b); /* and a settled graph stays as it is */
    assert_int_equal(a->n_nodes, b->n_nodes);
    for (int i = 0; i < a->n_nodes; i++) {
        assert_string_equal(a->nodes[i].name, b->nodes[i].name);
        assert_memory_equal(&a->nodes[i].attrs, &b->nodes[i].attrs, sizeof a->nodes[i].attrs);
    }
    ig_graph_free(a);
    ig_graph_free(b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(identities_go),
        cmocka_unit_test(lookalikes_of_identities_stay),
        cmocka_unit_test(pairs_of_transposes_merge),
        cmocka_unit_test(a_transpose_of_size_1_dims_is_a_reshape),
        cmocka_unit_test(affine_folds_into_the_op_before),
        cmocka_unit_test(affine_folds_into_the_op_after),
        cmocka_unit_test(padding_keeps_an_offset_out),
        cmocka_unit_test(affine_respects_other_readers),
        cmocka_unit_test(shared_weights_get_a_copy),
        cmocka_unit_test(a_residual_is_not_scaled),
        cmocka_unit_test(affine_chains_shrink),
        cmocka_unit_test(products_with_constants_become_fc),
        cmocka_unit_test(whole_image_reductions_become_global_pools),
        cmocka_unit_test(pads_move_into_windows),
        cmocka_unit_test(pads_that_mean_something_else_stay),
        cmocka_unit_test(flattening_permutes_the_weights),
        cmocka_unit_test(flattening_stays_where_others_look_on),
        cmocka_unit_test(constants_fold),
        cmocka_unit_test(sums_move_into_the_later_convolution),
        cmocka_unit_test(sums_stay_where_they_are_no_epilogue),
        cmocka_unit_test(activations_move_into_epilogues),
        cmocka_unit_test(other_functions_stay),
        cmocka_unit_test(functions_are_recognised),
        cmocka_unit_test(lookalikes_of_functions_stay),
        cmocka_unit_test(a_network_settles_in_its_smallest_form),
        cmocka_unit_test(passes_give_the_same_graph_again),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
