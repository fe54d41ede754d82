/*
 * The layout pass: the channels-last graph on the reference kernels gives what a plain reading of ONNX's NCHW
 * gives (tests/support/nchw.h).
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "tests/support/builder.h"
#include "tests/support/nchw.h"

/* Runs the pass on g and checks shapes, order and results; returns g. */
static void lay_out(struct ig_graph *g) {
    char err[512];
    struct ig_graph *before = ig_graph_clone(g);
    if (ig_graph_check(g, err, sizeof err)) fail_msg("before: %s", err);
    ig_pass_layout(g);
    assert_int_equal(g->channels_last, 1);
    if (ig_graph_check(g, err, sizeof err)) fail_msg("after: %s", err);
    assert_true(interp_agree(before, eval_nchw, g, ig_ref_eval, 1e-5));
    ig_graph_free(before);
}

static int32_t unary(struct ig_graph *g, int32_t kind, int32_t x) {
    return build_1(g, IG_UNARY, ACT(.kind = kind, .alpha = 1, .beta = 1), x);
}

static int32_t permute(struct ig_graph *g, int32_t x, const int32_t *perm) {
    union ig_attrs a = {.transpose = {{0}}};
    for (int i = 0; i < g->values[x].shape.rank; i++)
        a.transpose.perm[i] = perm[i];
    return build_1(g, IG_TRANSPOSE, &a, x);
}

#define PERM(...)                                                                                            \
    (const int32_t[]) {                                                                                      \
        __VA_ARGS__                                                                                          \
    }

static int32_t max_pool(struct ig_graph *g, int32_t x, int k, int s, int p) {
    return build_1(g, IG_POOL, ATTRS(.pool = {.w = build_window(k, s, p), .p = 2}), x);
}

static void a_plain_net_is_transposed_at_its_edges_only(void **state) {
    (void)state;
    struct ig_graph *g = ig_graph_new("g");
    int32_t x = build_input(g, "x", DIMS(1, 3, 9, 7));
    int32_t a = unary(g, IG_RELU, build_conv(g, x, 8, 3, 2, 1, 1));
    int32_t b = build_conv(g, max_pool(g, a, 3, 1, 1), 8, 3, 1, 1, 4);
    build_output(g, build_2(g, IG_BINARY, BIN(IG_ADD), a, b), "y");
    lay_out(g);
    assert_int_equal(build_count(g, IG_TRANSPOSE), 2);
    assert_int_equal(g->nodes[0].op, IG_TRANSPOSE);
    assert_int_equal(g->nodes[g->n_nodes - 1].op, IG_TRANSPOSE);
    ig_graph_free(g);
}

static void tensorflow_transposes_vanish(void **state) {
    (void)state;
    struct ig_graph *g = ig_graph_new("g");
    int32_t x = permute(g, build_input(g, "x", DIMS(1, 9, 7, 3)), PERM(0, 3, 1, 2));
    int32_t a = permute(g, build_conv(g, x, 8, 3, 1, 1, 1), PERM(0, 2, 3, 1));
    int32_t b = build_2(g, IG_BINARY, BIN(IG_MUL), a, build_const(g, DIMS(8))); /* TensorFlow's own layout */
    int32_t c = build_conv(g, permute(g, b, PERM(0, 3, 1, 2)), 4, 1, 1, 0, 1);
    build_output(g, permute(g, c, PERM(0, 2, 3, 1)), "y");
    lay_out(g);
    assert_int_equal(build_count(g, IG_TRANSPOSE), 0);
    assert_int_equal(build_count(g, IG_RESHAPE), 0);
    assert_int_equal(g->n_nodes, 3);
    ig_graph_free(g);
}

static void channel_shuffle_costs_one_transpose(void **state) {
    (void)state;
    struct ig_graph *g = ig_graph_new("g");
    int32_t x = permute(g, build_input(g, "x", DIMS(1, 5, 4, 6)), PERM(0, 3, 1, 2));
    int32_t a = build_conv(g, x, 12, 1, 1, 0, 1);
    int32_t s = permute(g, build_reshape(g, a, DIMS(1, 3, 4, 5, 4)), PERM(0, 2, 1, 3, 4));
    int32_t b = build_conv(g, build_reshape(g, s, DIMS(1, 12, 5, 4)), 5, 3, 1, 1, 1);
    build_output(g, permute(g, b, PERM(0, 2, 3, 1)), "y");
    lay_out(g);
    assert_int_equal(build_count(g, IG_TRANSPOSE), 1);
    ig_graph_free(g);
}

static void flattening_a_pooled_image_is_a_view(void **state) {
    (void)state;
    struct ig_graph *g = ig_graph_new("g");
    int32_t x = permute(g, build_input(g, "x", DIMS(1, 6, 5, 3)), PERM(0, 3, 1, 2));
    int32_t p = build_1(g, IG_GLOBAL_POOL, ATTRS(.global_pool = {.kind = IG_POOL_AVERAGE}),
                        build_conv(g, x, 8, 3, 1, 1, 1));
    build_output(g, build_reshape(g, p, DIMS(1, 8)), "y");
    lay_out(g);
    assert_int_equal(build_count(g, IG_TRANSPOSE), 0);
    ig_graph_free(g);
}

static void flattening_an_image_transposes_it(void **state) {
    (void)state;
    struct ig_graph *g = ig_graph_new("g");
    int32_t x = permute(g, build_input(g, "x", DIMS(1, 6, 5, 3)), PERM(0, 3, 1, 2));
    build_output(g, build_reshape(g, build_conv(g, x, 8, 3, 1, 1, 1), DIMS(1, 240)), "y");
    lay_out(g);
    assert_int_equal(build_count(g, IG_TRANSPOSE), 1);
    ig_graph_free(g);
}

static void attention_reads_pixels_as_tokens(void **state) {
    (void)state;
    struct ig_graph *g = ig_graph_new("g");
    int32_t x = permute(g, build_input(g, "x", DIMS(1, 6, 5, 3)), PERM(0, 3, 1, 2));
    int32_t t = build_reshape(g, build_conv(g, x, 8, 1, 1, 0, 1), DIMS(1, 8, 30));
    build_output(g, unary(g, IG_ABS, permute(g, t, PERM(0, 2, 1))), "tokens");
    lay_out(g);
    assert_int_equal(build_count(g, IG_TRANSPOSE), 0);
    ig_graph_free(g);
}

static void squeeze_and_excite_needs_no_transpose(void **state) {
    (void)state;
    struct ig_graph *g = ig_graph_new("g");
    int32_t x = permute(g, build_input(g, "x", DIMS(1, 6, 5, 3)), PERM(0, 3, 1, 2));
    int32_t a = build_conv(g, x, 8, 3, 1, 1, 1);
    int32_t m = build_1(g, IG_REDUCE, ATTRS(.reduce = {.kind = IG_REDUCE_MEAN, .mask = 12}), a);
    int32_t s = unary(g, IG_SIGMOID, build_reshape(g, build_reshape(g, m, DIMS(1, 8)), DIMS(1, 8, 1, 1)));
    int32_t y = build_conv(g, build_2(g, IG_BINARY, BIN(IG_MUL), a, s), 4, 1, 1, 0, 1);
    build_output(g, permute(g, y, PERM(0, 2, 3, 1)), "y");
    lay_out(g);
    assert_int_equal(build_count(g, IG_TRANSPOSE), 0);
    ig_graph_free(g);
}

static void operands_of_lower_rank_follow(void **state) {
    (void)state;
    struct ig_graph *g = ig_graph_new("g");
    int32_t a = build_conv(g, build_input(g, "x", DIMS(1, 3, 6, 5)), 8, 3, 1, 1, 1);
    int32_t per_channel = build_const(g, DIMS(8, 1, 1)), per_pixel = build_const(g, DIMS(6, 5));
    int32_t runtime = build_input(g, "r", DIMS(8, 1, 5)), column = build_input(g, "c", DIMS(5));
    a = build_2(g, IG_BINARY, BIN(IG_MUL), a, per_channel);
    a = build_2(g, IG_BINARY, BIN(IG_ADD), per_pixel, a);
    a = build_2(g, IG_BINARY, BIN(IG_SUB), a, runtime);
    a = build_2(g, IG_BINARY, BIN(IG_MAX), column, a);
    a = build_2(g, IG_BINARY, BIN(IG_ADD), a, build_scalar(g, 0.5f));
    build_output(g, build_2(g, IG_BINARY, BIN(IG_MUL), a, build_const(g, DIMS(1, 8, 6, 1))), "y");
    lay_out(g);
    ig_graph_free(g);
}

static void axes_are_renamed(void **state) {
    (void)state;
    struct ig_graph *g = ig_graph_new("g");
    struct ig_shape cut = build_shape(IG_F32, DIMS(1, 5, 3, 2));
    struct ig_shape index = build_shape(IG_I64, DIMS(1, 1, 6, 5));
    int32_t a = build_conv(g, build_input(g, "x", DIMS(1, 3, 6, 5)), 8, 3, 1, 1, 1);
    int32_t b = build_conv(g, a, 4, 1, 1, 0, 1);
    build_output(g, build_2(g, IG_CONCAT, ATTRS(.axis = {.axis = 1}), a, b), "concat");
    build_output(g, build_1(g, IG_SOFTMAX, ATTRS(.axis = {.axis = 1}), a), "softmax");
    build_output(g, build_1(g, IG_SOFTMAX, ATTRS(.axis = {.axis = 3}), a), "softmax_w");
    build_output(g, build_1(g, IG_REDUCE, ATTRS(.reduce = {.kind = IG_REDUCE_SUM, .mask = 6}), a), "sum_ch");
    build_output(g, build_node(g, IG_ARG, ATTRS(.arg = {.axis = 1}), 1, &a, &index), "arg");
    build_output(g, build_1(g, IG_CUMSUM, ATTRS(.cumsum = {.axis = 1}), a), "cumsum");
    build_output(g, build_1(g, IG_NORM, ATTRS(.norm = {.kind = IG_NORM_LP, .axis = 1, .p = 2}), a), "lp");
    build_output(
        g, build_1(g, IG_NORM, ATTRS(.norm = {.kind = IG_NORM_MVN, .mask = 13, .epsilon = 1e-5f}), a), "mvn");
    build_output(
        g, build_1(g, IG_PAD, ATTRS(.pad = {.begin = {0, 1, 2, 3}, .end = {0, 0, 1, 0}, .value = 2}), a),
        "pad");
    build_output(
        g,
        build_node(g, IG_SLICE, ATTRS(.slice = {.start = {0, 7, 0, 1}, .step = {1, -1, 2, 3}}), 1, &a, &cut),
        "slice");
    lay_out(g);
    ig_graph_free(g);
}

static void ops_of_onnx_layout_get_it(void **state) {
    (void)state;
    struct ig_graph *g = ig_graph_new("g");
    int32_t a = build_conv(g, build_input(g, "x", DIMS(1, 3, 6, 5)), 8, 3, 1, 1, 1);
    int32_t m = build_2(g, IG_MATMUL, ATTRS(.matmul = {.alpha = 1}), a, build_const(g, DIMS(5, 7)));
    build_output(g, build_conv(g, m, 2, 3, 1, 1, 1), "y");
    lay_out(g);
    assert_int_equal(build_count(g, IG_TRANSPOSE), 4);
    ig_graph_free(g);
}

static void max_pool_indices_stay_onnx_indices(void **state) {
    (void)state;
    struct ig_graph *g = ig_graph_new("g");
    struct ig_shape shape = build_shape(IG_I64, DIMS(1, 4, 3, 2));
    int32_t y = max_pool(g, build_conv(g, build_input(g, "x", DIMS(1, 3, 6, 5)), 4, 3, 1, 1, 1), 2, 2, 0);
    int32_t at = ig_add_value(g, "at", &shape);
    struct ig_node *n = &g->nodes[1];
    n->out = ig_graph_alloc(g, 2 * sizeof *n->out);
    n->out[0] = y;
    n->out[1] = at;
    n->n_out = 2;
    g->values[at].producer = 1;
    build_output(g, y, "y");
    ig_add_output(g, at);
    lay_out(g);
    ig_graph_free(g);
}

static void outputs_keep_shape_and_name(void **state) {
    (void)state;
    struct ig_graph *g = ig_graph_new("g");
    int32_t x = build_input(g, "x", DIMS(1, 4, 1, 1)); /* here all orders are the same bytes */
    int32_t a = build_conv(g, x, 4, 1, 1, 0, 1), t = permute(g, x, PERM(0, 2, 3, 1));
    build_output(g, a, "conv_out");
    build_output(g, t, "input_again");
    build_output(g, permute(g, a, PERM(0, 2, 3, 1)), "conv_again");
    lay_out(g);
    assert_int_equal(build_count(g, IG_TRANSPOSE), 0);
    assert_int_equal(ig_pass_layout(g), 0); /* once is enough */
    ig_graph_free(g);
}

static void constants_are_permuted_once(void **state) {
    (void)state;
    struct ig_graph *g = ig_graph_new("g");
    int32_t a = build_conv(g, build_input(g, "x", DIMS(1, 3, 6, 5)), 8, 3, 1, 1, 1),
            c = build_const(g, DIMS(1, 8, 6, 5));
    a = build_2(g, IG_BINARY, BIN(IG_ADD), a, c);
    build_output(g, build_2(g, IG_BINARY, BIN(IG_MUL), a, c), "y");
    lay_out(g);
    assert_int_equal(build_count(g, IG_TRANSPOSE), 2);
    assert_int_equal(g->n_values,
                     1 + 1 + 1 + 3 + 2 + 1); /* x, its transpose, the constant once, conv, binaries, y */
    ig_graph_free(g);
}

static int32_t resize(struct ig_graph *g, int32_t x, const float *scale) {
    union ig_attrs a = {.resize = {.mode = IG_LINEAR, .coord = IG_HALF_PIXEL}};
    struct ig_shape s = g->values[x].shape;
    for (int i = 0; i < s.rank; i++) a.resize.scale[i] = scale[i], s.dims[i] = (int32_t)((float)s.dims[i] * scale[i]);
    return build_node(g, IG_RESIZE, &a, 1, &x, &s);
}

#define SCALE(...) ((const float[]){__VA_ARGS__})

/* Of the input, too: kernels want the channels last. */
static void images_are_resized_channels_last(void **state) {
    (void)state;
    struct ig_graph *g = ig_graph_new("g");
    int32_t wide = resize(g, build_input(g, "x", DIMS(1, 3, 4, 5)), SCALE(1, 1, 2, 1.4f));
    build_output(g, build_conv(g, wide, 8, 3, 1, 1, 1), "y");
    lay_out(g);
    assert_int_equal(g->nodes[0].op, IG_TRANSPOSE);
    assert_int_equal(g->nodes[1].op, IG_RESIZE);
    assert_true(g->nodes[1].attrs.resize.scale[1] == 2 && g->nodes[1].attrs.resize.scale[3] == 1);
    assert_int_equal(build_count(g, IG_TRANSPOSE), 2);
    ig_graph_free(g);
    g = ig_graph_new("others"); /* pixels are where kernels have them, or what is resized are no images */
    int32_t x = build_input(g, "x", DIMS(2, 4, 5, 3));
    build_output(g, resize(g, x, SCALE(1, 2, 2, 1)), "pixels");
    build_output(g, resize(g, x, SCALE(1, 1, 2, 1)), "columns");
    build_output(g, resize(g, x, SCALE(2, 1, 1, 2)), "all");
    lay_out(g);
    assert_int_equal(build_count(g, IG_TRANSPOSE), 0);
    ig_graph_free(g);
}

/* --- group_norm, which comes before it --- */

static int32_t instance(struct ig_graph *g, int32_t x, int32_t channels) {
    int32_t in[3] = {x, build_const(g, DIMS(channels)), build_const(g, DIMS(channels))};
    return build_node(g, IG_NORM, ATTRS(.norm = {.kind = IG_NORM_INSTANCE, .groups = 1, .epsilon = 1e-3f}), 3, in, NULL);
}

/* As torch's exporter writes it: of [N, groups, rest], between reshapes. */
static int32_t grouped(struct ig_graph *g, int32_t x, int32_t groups, int32_t rest) {
    const struct ig_shape *s = &g->values[x].shape;
    int32_t dims[4] = {s->dims[0], s->dims[1], s->dims[2], s->dims[3]}, rank = s->rank;
    return build_reshape(g, instance(g, build_reshape(g, x, DIMS(dims[0], groups, rest)), groups), rank, dims);
}

/* Runs the pass, which is to make `n` rewrites, checks results; then lays out. */
static void group(struct ig_graph *g, int n) {
    struct ig_graph *before = ig_graph_clone(g);
    char err[512];
    assert_int_equal(ig_pass_group_norm(g), n);
    if (ig_graph_check(g, err, sizeof err)) fail_msg("after: %s", err);
    assert_true(interp_agree(before, eval_nchw, g, eval_nchw, 1e-5));
    ig_graph_free(before);
    lay_out(g);
}

static void group_norm_of_old_exporters(void **state) {
    (void)state;
    struct ig_graph *g = ig_graph_new("g");
    int32_t x = build_conv(g, build_input(g, "x", DIMS(1, 3, 6, 5)), 12, 3, 1, 1, 1);
    int32_t scaled = build_2(g, IG_BINARY, BIN(IG_MUL), grouped(g, x, 4, 90), build_const(g, DIMS(12, 1, 1)));
    int32_t moved = build_2(g, IG_BINARY, BIN(IG_ADD), scaled, build_const(g, DIMS(1, 12, 1, 1)));
    build_output(g, build_conv(g, moved, 2, 3, 1, 1, 1), "y");
    group(g, 1);
    assert_int_equal(build_count(g, IG_NORM), 1);
    assert_int_equal(build_count(g, IG_BINARY), 0);
    assert_int_equal(build_count(g, IG_TRANSPOSE), 2); /* at the net's edges */
    ig_graph_free(g);
    g = ig_graph_new("lines"); /* two of a batch, one group; a factor of columns, one of all, and a reader of the middle stay */
    x = build_input(g, "x", DIMS(2, 6, 7));
    int32_t y = grouped(g, x, 1, 42), columns = build_2(g, IG_BINARY, BIN(IG_MUL), y, build_const(g, DIMS(7)));
    build_output(g, columns, "columns");
    y = build_2(g, IG_BINARY, BIN(IG_ADD), build_const(g, DIMS(6, 1)), grouped(g, x, 3, 14));
    build_output(g, y, "seen");
    build_output(g, build_2(g, IG_BINARY, BIN(IG_MUL), y, build_const(g, DIMS(6, 1))), "on");
    group(g, 2);
    assert_int_equal(build_count(g, IG_BINARY), 2);
    ig_graph_free(g);
}

static void what_is_no_group_norm(void **state) {
    (void)state;
    struct ig_graph *g = ig_graph_new("g");
    int32_t x = build_input(g, "x", DIMS(1, 6, 4, 4));
    int32_t across = build_reshape(g, instance(g, build_reshape(g, x, DIMS(1, 4, 24)), 4), DIMS(1, 6, 4, 4)); /* groups of 1.5 channels */
    build_output(g, across, "across");
    build_output(g, build_reshape(g, instance(g, build_reshape(g, x, DIMS(1, 3, 32)), 3), DIMS(1, 4, 6, 4)), "other");
    int32_t read = instance(g, build_reshape(g, x, DIMS(1, 3, 32)), 3);
    build_output(g, build_reshape(g, read, DIMS(1, 6, 4, 4)), "once");
    build_output(g, read, "twice");
    group(g, 0);
    ig_graph_free(g);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_plain_net_is_transposed_at_its_edges_only),
        cmocka_unit_test(tensorflow_transposes_vanish),
        cmocka_unit_test(channel_shuffle_costs_one_transpose),
        cmocka_unit_test(flattening_a_pooled_image_is_a_view),
        cmocka_unit_test(flattening_an_image_transposes_it),
        cmocka_unit_test(attention_reads_pixels_as_tokens),
        cmocka_unit_test(squeeze_and_excite_needs_no_transpose),
        cmocka_unit_test(operands_of_lower_rank_follow),
        cmocka_unit_test(axes_are_renamed),
        cmocka_unit_test(ops_of_onnx_layout_get_it),
        cmocka_unit_test(max_pool_indices_stay_onnx_indices),
        cmocka_unit_test(outputs_keep_shape_and_name),
        cmocka_unit_test(constants_are_permuted_once),
        cmocka_unit_test(images_are_resized_channels_last),
        cmocka_unit_test(group_norm_of_old_exporters),
        cmocka_unit_test(what_is_no_group_norm),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
