/*
 * The other passes, and all of them together; passes_identity.c has those by which what computes nothing goes. Each does its
 * rewrite, leaves alone what it must not touch, and keeps the numbers: the graph is run on the reference kernels before and after.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "tests/support/improve.h"

static int all_passes(struct ig_graph *g) {
    char err[512];
    if (ig_run_passes(g, ig_ref_eval, err, sizeof err)) fail_msg("%s", err);
    return 0;
}

static int fold_constants(struct ig_graph *g) {
    return ig_pass_fold_constants(g, ig_ref_eval);
}

static int32_t pad(struct ig_graph *g, int32_t x, float value) {
    return build_1(g, IG_PAD, ATTRS(.pad = {.begin = {0, 1, 0, 0}, .end = {0, 2, 1, 0}, .value = value}), x);
}

/* --- matmul_to_fc, global_pool, fuse_pad, flatten_fc, fold_constants --- */

static void products_with_constants_become_fc(void **state) {
    (void)state;
    struct ig_graph *g = empty();
    int32_t x = build_input(g, "x", DIMS(3, 5)), t = build_input(g, "t", DIMS(2, 6, 5));
    int32_t q = build_input(g, "q", DIMS(1, 3, 4, 5));
    build_output(g, build_2(g, IG_MATMUL, ATTRS(.matmul = {.alpha = 1}), x, build_const(g, DIMS(5, 7))),
                 "fc");
    build_output(
        g,
        build_2(g, IG_MATMUL, ATTRS(.matmul = {.alpha = 0.5f, .trans_b = 1}), x, build_const(g, DIMS(7, 5))),
        "fc_t");
    build_output(g, build_2(g, IG_MATMUL, ATTRS(.matmul = {.alpha = 1}), t, build_const(g, DIMS(5, 7))),
                 "conv");
    build_output(g, build_2(g, IG_MATMUL, ATTRS(.matmul = {.alpha = 1}), q, build_const(g, DIMS(1, 1, 5, 7))),
                 "conv_4");
    build_output(g, build_2(g, IG_MATMUL, ATTRS(.matmul = {.alpha = 1}), t, build_const(g, DIMS(2, 5, 7))),
                 "stack");
    assert_int_equal(improve(g, ig_pass_matmul_to_fc), 4);
    assert_int_equal(build_count(g, IG_FC), 2);
    assert_int_equal(build_count(g, IG_CONV), 2);
    ig_graph_free(g);
}

/* Windows of pixels: more dims than a convolution has. */
static void products_of_many_dims_become_convolutions(void **state) {
    (void)state;
    for (int bias = 0; bias < 3; bias++) { /* none, by channel, not by channel */
        struct ig_graph *g = empty();
        int32_t x = build_input(g, "x", DIMS(1, 2, 3, 2, 3, 5));
        int32_t y = build_2(g, IG_MATMUL, ATTRS(.matmul = {.alpha = 0.5f}), x, build_const(g, DIMS(5, 7)));
        if (bias) y = binary(g, IG_ADD, bias == 1 ? build_const(g, DIMS(7)) : build_const(g, DIMS(3, 7)), y);
        build_output(g, y, "y");
        assert_int_equal(improve(g, ig_pass_matmul_to_fc), 1);
        assert_int_equal(build_count(g, IG_CONV), 1);
        assert_int_equal(build_count(g, IG_BINARY), bias == 2);
        ig_graph_free(g);
    }
}

static void whole_image_reductions_become_global_pools(void **state) {
    (void)state;
    struct ig_graph *g = empty();
    int32_t x = build_input(g, "x", DIMS(2, 5, 5, 4));
    build_output(g, build_1(g, IG_REDUCE, ATTRS(.reduce = {.kind = IG_REDUCE_MEAN, .mask = 6}), x), "mean");
    build_output(g, build_1(g, IG_REDUCE, ATTRS(.reduce = {.kind = IG_REDUCE_MAX, .mask = 6}), x), "max");
    build_output(g, build_1(g, IG_REDUCE, ATTRS(.reduce = {.kind = IG_REDUCE_MEAN, .mask = 4}), x), "rows");
    build_output(g, build_1(g, IG_REDUCE, ATTRS(.reduce = {.kind = IG_REDUCE_SUM, .mask = 6}), x), "sum");
    build_output(g,
                 build_1(g, IG_POOL, ATTRS(.pool = {.w = build_window(5, 1, 0), .kind = IG_POOL_AVERAGE}), x),
                 "pool");
    build_output(g,
                 build_1(g, IG_POOL, ATTRS(.pool = {.w = build_window(4, 1, 0), .kind = IG_POOL_AVERAGE}), x),
                 "part");
    assert_int_equal(improve(g, ig_pass_global_pool), 3);
    assert_int_equal(build_count(g, IG_GLOBAL_POOL), 3);
    ig_graph_free(g);
}

static void pads_move_into_windows(void **state) {
    (void)state;
    struct ig_graph *g = empty();
    int32_t x = image(g);
    union ig_attrs counted = {
        .pool = {.w = build_window(3, 1, 1), .kind = IG_POOL_AVERAGE, .count_include_pad = 1}};
    build_output(g, build_conv(g, pad(g, x, 0), 6, 3, 2, 1, 1), "conv");
    build_output(g,
                 build_1(g, IG_POOL, ATTRS(.pool = {.w = build_window(3, 1, 0), .kind = IG_POOL_AVERAGE}),
                         pad(g, x, 0)),
                 "average");
    build_output(g, build_1(g, IG_POOL, &counted, pad(g, x, 0)), "counted");
    assert_int_equal(improve(g, ig_pass_fuse_pad), 3);
    assert_int_equal(build_count(g, IG_PAD), 0);
    ig_graph_free(g);
}

static void pads_that_mean_something_else_stay(void **state) {
    (void)state;
    struct ig_graph *g = empty();
    int32_t x = image(g), twice = pad(g, x, 0);
    build_output(g, build_conv(g, pad(g, x, 1), 6, 3, 2, 1, 1), "ones");
    build_output(g, build_1(g, IG_POOL, ATTRS(.pool = {.w = build_window(3, 1, 0)}), pad(g, x, 0)), "max");
    build_output(g,
                 build_1(g, IG_POOL, ATTRS(.pool = {.w = build_window(3, 1, 1), .kind = IG_POOL_AVERAGE}),
                         pad(g, x, 0)),
                 "uncounted");
    build_output(g, build_conv(g, twice, 6, 3, 1, 0, 1), "a");
    build_output(g, build_conv(g, twice, 6, 3, 1, 0, 1), "b");
    int32_t crop = build_1(g, IG_PAD, ATTRS(.pad = {.begin = {0, -1, 0, 0}, .end = {0, 1, 0, 0}}), x);
    build_output(g, build_conv(g, crop, 6, 3, 1, 0, 1), "crop");
    int32_t channels = build_1(g, IG_PAD, ATTRS(.pad = {.end = {0, 0, 0, 2}}), x);
    build_output(g, build_conv(g, channels, 6, 3, 1, 0, 1), "channels");
    assert_int_equal(improve(g, ig_pass_fuse_pad), 0);
    for (int32_t own = 0; own < 2; own++) { /* more than a window may have, by itself or with what there is */
        int32_t wide = build_1(g, IG_PAD, ATTRS(.pad = {.begin = {0, 0, (1 << 24) + 1 - own, 0}}), x);
        build_output(g, build_conv(g, wide, 6, 3, 1, own, 1), own ? "together" : "alone");
    }
    assert_int_equal(ig_pass_fuse_pad(g), 0);
    ig_graph_free(g);
}

static void flattening_permutes_the_weights(void **state) {
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

static void flattening_stays_where_others_look_on(void **state) {
    (void)state;
    struct ig_graph *g = empty();
    int32_t x = build_input(g, "x", DIMS(1, 3, 2, 5));
    int32_t t = build_1(g, IG_TRANSPOSE, ATTRS(.transpose = {.perm = {0, 3, 1, 2}}), x);
    int32_t flat = build_reshape(g, t, DIMS(1, 30));
    build_output(g, fc(g, flat, 7), "y");
    build_output(g, act(g, IG_RELU, 0, 0, flat), "flat");
    int32_t mixed = build_1(g, IG_TRANSPOSE, ATTRS(.transpose = {.perm = {1, 0, 2, 3}}),
                            build_input(g, "z", DIMS(2, 3, 2, 5)));
    build_output(g, fc(g, build_reshape(g, mixed, DIMS(3, 20)), 4), "rows");
    assert_int_equal(improve(g, ig_pass_flatten_fc), 0);
    ig_graph_free(g);
}

static void constants_fold(void **state) {
    (void)state;
    struct ig_graph *g = empty();
    int32_t c = build_const(g, DIMS(2, 3)),
            t = build_1(g, IG_TRANSPOSE, ATTRS(.transpose = {.perm = {1, 0}}), c);
    int32_t r = build_reshape(g, binary(g, IG_ADD, t, build_scalar(g, 1)), DIMS(6));
    build_output(g, binary(g, IG_MUL, r, build_input(g, "x", DIMS(6))), "y");
    assert_int_equal(improve(g, fold_constants), 3);
    assert_int_equal(g->n_nodes, 1);
    ig_graph_free(g);
}

/* --- all of them --- */

static int32_t hard_sigmoid(struct ig_graph *g, int32_t x) {
    return binary(g, IG_DIV, act(g, IG_CLIP, 0, 6, binary(g, IG_ADD, x, build_scalar(g, 3))),
                  build_scalar(g, 6));
}

/* A little of everything, in ONNX's layout: batch norm, residual, squeeze and excite, hard swish, flatten,
 * fc. */
static struct ig_graph *network(void) {
    struct ig_graph *g = ig_graph_new("net");
    int32_t x = build_input(g, "x", DIMS(1, 3, 12, 10));
    int32_t a = build_conv(g, x, 8, 3, 2, 1, 1);
    a = binary(g, IG_MUL, a, build_const(g, DIMS(8, 1, 1)));
    a = act(g, IG_RELU, 0, 0, binary(g, IG_ADD, a, build_const(g, DIMS(8, 1, 1))));
    int32_t b = build_conv(g, a, 8, 3, 1, 1, 8);
    b = binary(g, IG_MUL, b, hard_sigmoid(g, b)); /* hard swish */
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

static void a_network_settles_in_its_smallest_form(void **state) {
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

static void powers_become_what_they_are(void **state) {
    (void)state;
    struct ig_graph *g = empty();
    int32_t x = build_input(g, "x", DIMS(2, 3, 8));
    build_output(g, binary(g, IG_POW, x, build_scalar(g, 2)), "square");
    int32_t positive = act(g, IG_EXP, 0, 0, x);
    build_output(g, binary(g, IG_POW, positive, build_scalar(g, .5f)), "root");
    build_output(g, binary(g, IG_POW, positive, build_scalar(g, -1)), "reciprocal");
    build_output(g, binary(g, IG_POW, act(g, IG_ABS, 0, 0, x), build_scalar(g, 3)), "cube");
    build_output(g, binary(g, IG_POW, build_scalar(g, 2), x), "of_two");
    int32_t wide = binary(g, IG_POW, build_input(g, "row", DIMS(8)), build_node(g, IG_EXPAND, NULL, 1, (int32_t[]){build_scalar(g, 2)}, &g->values[x].shape));
    build_output(g, wide, "other_shape");
    assert_int_equal(improve(g, ig_pass_compose), 3);
    assert_int_equal(build_count(g, IG_BINARY), 4);
    ig_graph_free(g);
}

/* --- layer_norm --- */

static int32_t mean(struct ig_graph *g, int32_t x, int32_t mask) {
    return build_1(g, IG_REDUCE, ATTRS(.reduce = {.kind = IG_REDUCE_MEAN, .mask = mask}), x);
}

/* d / sqrt(mean d^2 + 1/8) over the axes of the mask. */
static int32_t normalised(struct ig_graph *g, int32_t d, int32_t mask, int by_power) {
    int32_t square = by_power ? binary(g, IG_POW, d, build_scalar(g, 2)) : binary(g, IG_MUL, d, d);
    int32_t variance = mean(g, square, mask);
    variance = by_power ? binary(g, IG_ADD, build_scalar(g, .125f), variance) : act(g, IG_AFFINE, 1, .125f, variance);
    return binary(g, IG_DIV, d, act(g, IG_SQRT, 0, 0, variance));
}

static void old_layer_norms_become_one(void **state) {
    (void)state;
    struct ig_graph *g = empty();
    int32_t x = build_input(g, "x", DIMS(2, 3, 8)), y = binary(g, IG_SUB, x, mean(g, x, 4));
    y = binary(g, IG_MUL, normalised(g, y, 4, 1), build_const(g, DIMS(8)));
    build_output(g, binary(g, IG_ADD, build_const(g, DIMS(1, 1, 8)), y), "both");
    y = binary(g, IG_SUB, x, mean(g, x, 4));
    build_output(g, binary(g, IG_ADD, normalised(g, y, 4, 0), build_const(g, DIMS(8))), "shifted");
    build_output(g, binary(g, IG_MUL, build_const(g, DIMS(1)), normalised(g, x, 4, 0)), "rms"); /* one factor for all stays */
    assert_int_equal(improve(g, ig_pass_layer_norm), 3);
    assert_int_equal(build_count(g, IG_NORM), 3);
    assert_int_equal(build_count(g, IG_REDUCE), 0);
    assert_int_equal(build_count(g, IG_BINARY), 1);
    ig_graph_free(g);
}

static void what_is_no_layer_norm_stays(void **state) {
    (void)state;
    struct ig_graph *g = empty();
    int32_t x = build_input(g, "x", DIMS(2, 8, 8)), other = build_input(g, "other", DIMS(2, 8, 8));
    build_output(g, normalised(g, x, 2, 1), "other_axis");
    build_output(g, normalised(g, x, 6, 1), "two_axes");
    int32_t fourth = binary(g, IG_POW, x, build_scalar(g, 4)), root = act(g, IG_SQRT, 0, 0, act(g, IG_AFFINE, 1, 1, mean(g, fourth, 4)));
    build_output(g, binary(g, IG_DIV, x, root), "fourth");
    root = act(g, IG_SQRT, 0, 0, act(g, IG_AFFINE, 2, 1, mean(g, binary(g, IG_MUL, x, x), 4)));
    build_output(g, binary(g, IG_DIV, x, root), "twice");
    root = act(g, IG_SQRT, 0, 0, act(g, IG_AFFINE, 1, 9, mean(g, binary(g, IG_MUL, x, other), 4)));
    build_output(g, binary(g, IG_DIV, x, root), "product");
    root = act(g, IG_SQRT, 0, 0, act(g, IG_AFFINE, 1, 1, mean(g, binary(g, IG_MUL, other, other), 4)));
    build_output(g, binary(g, IG_DIV, x, root), "of_another");
    assert_int_equal(improve(g, ig_pass_layer_norm), 0);
    ig_graph_free(g);
}

/* Of 1x1, with an activation; residual: a value or -1. */
static int32_t pointwise(struct ig_graph *g, int32_t x, int32_t oc, int32_t residual) {
    const struct ig_shape *s = &g->values[x].shape;
    const int32_t ic = s->dims[s->rank - 1], dims[4] = {oc, ic, 1, 1};
    int32_t in[4] = {x, build_const(g, s->rank, dims), build_const(g, DIMS(oc)), residual};
    const struct ig_conv conv = {.w = build_window(1, 1, 0), .groups = 1, .act = {.kind = IG_RELU}};
    return build_node(g, IG_CONV, ATTRS(.conv = conv), 4, in, NULL);
}

static void images_of_few_pixels_become_one(void **state) {
    struct ig_graph *g = empty();
    int32_t tokens = build_input(g, "tokens", DIMS(7, 2, 5)), r = build_input(g, "residual", DIMS(7, 2, 6)), image = build_input(g, "image", DIMS(3, 8, 8, 5));
    (void)state;
    build_output(g, pointwise(g, pointwise(g, tokens, 6, r), 4, -1), "y");
    build_output(g, pointwise(g, image, 3, -1), "pixels");
    assert_int_equal(improve_fully(g, ig_pass_batch), 3);
    assert_int_equal(build_count(g, IG_CONV), 3);
    for (int i = 0; i < g->n_nodes; i++)
        if (g->nodes[i].op == IG_CONV) assert_int_equal(g->values[g->nodes[i].out[0]].shape.dims[0], 1);
    improve_fully(g, ig_pass_identity);
    assert_int_equal(build_count(g, IG_RESHAPE), 5); /* of the inputs and outputs alone */
    ig_graph_free(g);
}

static void other_images_stay(void **state) {
    struct ig_graph *g = empty();
    int32_t x = build_input(g, "x", DIMS(2, 9, 8, 5)), one = build_input(g, "one", DIMS(1, 4, 4, 5)), small = build_input(g, "small", DIMS(2, 4, 4, 5));
    (void)state;
    build_output(g, pointwise(g, x, 3, -1), "many");
    build_output(g, pointwise(g, one, 3, -1), "single");
    build_output(g, build_conv(g, small, 3, 3, 1, 1, 1), "window");
    build_output(g, build_conv(g, small, 3, 1, 2, 0, 1), "stride");
    assert_int_equal(improve(g, ig_pass_batch), 0);
    ig_graph_free(g);
}

static void passes_give_the_same_graph_again(void **state) {
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

int main(void) {
    const struct CMUnitTest tests[] = {







        cmocka_unit_test(products_with_constants_become_fc),
        cmocka_unit_test(products_of_many_dims_become_convolutions),
        cmocka_unit_test(whole_image_reductions_become_global_pools),
        cmocka_unit_test(pads_move_into_windows),
        cmocka_unit_test(pads_that_mean_something_else_stay),
        cmocka_unit_test(flattening_permutes_the_weights),
        cmocka_unit_test(flattening_stays_where_others_look_on),
        cmocka_unit_test(constants_fold),
        cmocka_unit_test(a_network_settles_in_its_smallest_form),
        cmocka_unit_test(powers_become_what_they_are),
        cmocka_unit_test(old_layer_norms_become_one),
        cmocka_unit_test(what_is_no_layer_norm_stays),
        cmocka_unit_test(images_of_few_pixels_become_one),
        cmocka_unit_test(other_images_stay),
        cmocka_unit_test(passes_give_the_same_graph_again),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
