/* Residuals and activations into epilogues, and functions recognised by their parts. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "tests/support/improve.h"

static int32_t deconv(struct ig_graph *g, int32_t x, int32_t oc, int32_t groups) {
    int32_t ic = g->values[x].shape.dims[3], in[2] = {x, build_const(g, DIMS(ic, oc / groups, 3, 3))};
    return build_node(g, IG_DECONV, ATTRS(.conv = {.w = build_window(3, 2, 1), .groups = groups}), 2, in,
                      NULL);
}

static const struct ig_node *last(const struct ig_graph *g) {
    return &g->nodes[g->n_nodes - 1];
}

static void sums_move_into_the_later_convolution(void **state) {
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

static void sums_stay_where_they_are_no_epilogue(void **state) {
    (void)state;
    struct ig_graph *g = empty();
    int32_t x = image(g), active = build_conv(g, x, 4, 1, 1, 0, 1);
    g->nodes[0].attrs.conv.act.kind = IG_RELU;
    int32_t shared = build_conv(g, x, 4, 1, 1, 0, 1);
    build_output(g, binary(g, IG_ADD, active, x), "after_relu");
    build_output(g, binary(g, IG_ADD, shared, shared), "twice");
    build_output(g, binary(g, IG_ADD, build_conv(g, x, 4, 1, 1, 0, 1), build_input(g, "c", DIMS(4))),
                 "broadcast");
    assert_int_equal(improve(g, ig_pass_fuse_residual), 0);
    ig_graph_free(g);
}

static int32_t by_channel(struct ig_graph *g, int32_t x, int32_t c) {
    return binary(g, IG_ADD, binary(g, IG_MUL, x, build_const(g, DIMS(c))), build_const(g, DIMS(c)));
}

static void branches_become_one_convolution(void **state) {
    (void)state;
    for (int32_t groups = 1; groups <= 4; groups *= 2) { /* 3x3, 1x1 and the image itself, as in RepVGG */
        struct ig_graph *g = empty();
        int32_t x = image(g), sum = binary(g, IG_ADD, by_channel(g, x, 4), build_conv(g, x, 4, 1, 1, 0, groups));
        sum = binary(g, IG_ADD, sum, build_conv(g, x, 4, 3, 1, 1, groups));
        build_output(g, act(g, IG_RELU, 0, 0, sum), "y");
        improve_fully(g, ig_pass_merge_branches);
        assert_int_equal(g->n_nodes, 2);
        assert_int_equal(g->nodes[0].attrs.conv.w.kh, 3);
        ig_graph_free(g);
    }
    for (int32_t groups = 1; groups <= 4; groups *= 2) {
        struct ig_graph *g = empty();
        int32_t x = image(g);
        build_output(g, binary(g, IG_ADD, build_conv(g, x, 4, 3, 1, 1, groups), by_channel(g, x, 4)), "y");
        assert_int_equal(improve(g, ig_pass_merge_branches), 1);
        assert_int_equal(g->n_nodes, 1);
        ig_graph_free(g);
    }
    struct ig_graph *g = empty();
    int32_t x = image(g), window = build_conv(g, x, 6, 5, 2, 2, 2);
    build_output(g, binary(g, IG_ADD, build_conv(g, x, 6, 3, 2, 1, 2), window), "stride");
    assert_int_equal(improve(g, ig_pass_merge_branches), 1);
    assert_int_equal(g->n_nodes, 1);
    ig_graph_free(g);
}

static void branches_stay_that_are_not_one(void **state) {
    (void)state;
    struct ig_graph *g = empty();
    int32_t x = image(g), other = build_input(g, "z", DIMS(1, 6, 5, 4));
    int32_t active = build_conv(g, x, 4, 1, 1, 0, 1), two[2] = {x, build_const(g, DIMS(4, 4, 3, 3))};
    g->nodes[0].attrs.conv.act.kind = IG_RELU;
    struct ig_window apart = build_window(3, 1, 2);
    apart.dh = apart.dw = 2;
    int32_t dilated = build_node(g, IG_CONV, ATTRS(.conv = {.w = apart, .groups = 1}), 2, two, NULL);
    build_output(g, binary(g, IG_ADD, active, build_conv(g, x, 4, 3, 1, 1, 1)), "active");
    build_output(g, binary(g, IG_ADD, dilated, build_conv(g, x, 4, 1, 1, 0, 1)), "dilated");
    build_output(g, binary(g, IG_ADD, build_conv(g, x, 4, 3, 1, 1, 1), build_conv(g, other, 4, 3, 1, 1, 1)), "images");
    build_output(g, binary(g, IG_ADD, build_conv(g, x, 4, 3, 1, 1, 1), build_conv(g, x, 4, 3, 1, 1, 2)), "groups");
    build_output(g, binary(g, IG_ADD, build_conv(g, x, 4, 3, 1, 1, 1), by_channel(g, other, 4)), "another_image");
    int32_t left = build_conv(g, x, 4, 3, 1, 0, 1);
    build_output(g, binary(g, IG_ADD, left, build_conv(g, build_input(g, "large", DIMS(1, 4, 3, 4)), 4, 1, 1, 0, 1)), "sizes");
    assert_int_equal(improve(g, ig_pass_merge_branches), 0);
    ig_graph_free(g);
}

static void activations_move_into_epilogues(void **state) {
    (void)state;
    struct ig_graph *g = empty();
    int32_t x = image(g), two[2] = {x, build_const(g, DIMS(1, 6, 5, 4))};
    build_output(g, act(g, IG_CLIP, 0, 6, build_conv(g, x, 6, 3, 1, 1, 1)), "conv");
    build_output(g, act(g, IG_LEAKY_RELU, 0.1f, 0, deconv(g, x, 6, 1)), "deconv");
    build_output(g, act(g, IG_SWISH, 1, 0, fc(g, build_reshape(g, x, DIMS(6, 20)), 3)), "fc");
    build_output(g, act(g, IG_TANH, 0, 0, binary(g, IG_SUB, two[0], two[1])), "binary");
    build_output(g, act(g, IG_GELU, 0, 0, build_conv(g, x, 6, 1, 1, 0, 1)), "gelu");
    int32_t c = act(g, IG_CLIP, -INFINITY, 1, act(g, IG_RELU, 0, 0, build_conv(g, x, 6, 1, 1, 0, 1)));
    build_output(g, c, "relu_then_min");
    assert_int_equal(improve(g, ig_pass_fuse_activation), 7);
    assert_int_equal(build_count(g, IG_UNARY), 0);
    ig_graph_free(g);
}

static void other_functions_stay(void **state) {
    (void)state;
    struct ig_graph *g = empty();
    int32_t x = image(g), a = build_conv(g, x, 6, 1, 1, 0, 1);
    build_output(g, act(g, IG_SOFTSIGN, 0, 0, build_conv(g, x, 6, 1, 1, 0, 1)), "softsign"); /* no epilogue of ours */
    build_output(g, act(g, IG_RELU, 0, 0, a), "relu");
    build_output(g, act(g, IG_SIGMOID, 0, 0, a), "sigmoid"); /* a is read twice */
    assert_int_equal(improve(g, ig_pass_fuse_activation), 0);
    ig_graph_free(g);
}

/* Composes f (built on x by `make`) until it settles; one UNARY of `kind` must be left. */
static void composes_within(int32_t (*make)(struct ig_graph *, int32_t), int32_t kind, double share) {
    struct ig_graph *g = empty();
    build_output(g, make(g, image(g)), "y");
    for (int n = 1; n;)
        n = improve_within(g, ig_pass_compose, share) + improve(g, ig_pass_fold_affine) + improve(g, ig_pass_identity);
    assert_int_equal(g->n_nodes, 1);
    assert_int_equal(g->nodes[0].op, IG_UNARY);
    assert_int_equal(g->nodes[0].attrs.unary.act.kind, kind);
    ig_graph_free(g);
}

static void composes(int32_t (*make)(struct ig_graph *, int32_t), int32_t kind) {
    composes_within(make, kind, 2e-5);
}

static int32_t relu_by_max(struct ig_graph *g, int32_t x) {
    return binary(g, IG_MAX, build_scalar(g, 0), x);
}

static int32_t relu6_by_min(struct ig_graph *g, int32_t x) {
    return binary(g, IG_MIN, act(g, IG_RELU, 0, 0, x), build_scalar(g, 6));
}

static int32_t leaky_by_prelu(struct ig_graph *g, int32_t x) {
    return binary(g, IG_PRELU, x, build_scalar(g, 0.25f));
}

static int32_t swish(struct ig_graph *g, int32_t x) {
    return binary(g, IG_MUL, act(g, IG_SIGMOID, 0, 0, x), x);
}

static int32_t scaled_swish(struct ig_graph *g, int32_t x) {
    int32_t s = act(g, IG_SIGMOID, 0, 0, binary(g, IG_MUL, x, build_scalar(g, 1.702f)));
    return binary(g, IG_MUL, x, s);
}

static int32_t hard_sigmoid(struct ig_graph *g, int32_t x) {
    return binary(g, IG_DIV, act(g, IG_CLIP, 0, 6, binary(g, IG_ADD, x, build_scalar(g, 3))),
                  build_scalar(g, 6));
}

static int32_t hard_swish(struct ig_graph *g, int32_t x) {
    return binary(g, IG_MUL, x, hard_sigmoid(g, x));
}

static int32_t hard_swish_divided_last(struct ig_graph *g, int32_t x) {
    int32_t c = act(g, IG_CLIP, 0, 6, binary(g, IG_ADD, x, build_scalar(g, 3)));
    return binary(g, IG_DIV, binary(g, IG_MUL, x, c), build_scalar(g, 6));
}

static int32_t hard_swish_by_onnx(struct ig_graph *g, int32_t x) {
    return binary(g, IG_MUL, act(g, IG_HARD_SIGMOID, 1 / 6.f, 0.5f, x), x);
}

static int32_t mish(struct ig_graph *g, int32_t x) {
    return binary(g, IG_MUL, x, act(g, IG_TANH, 0, 0, act(g, IG_SOFTPLUS, 0, 0, x)));
}

static int32_t one_plus_erf(struct ig_graph *g, int32_t x) {
    return binary(g, IG_ADD, act(g, IG_ERF, 0, 0, binary(g, IG_DIV, x, build_scalar(g, 1.41421356f))),
                  build_scalar(g, 1));
}

static int32_t gelu(struct ig_graph *g, int32_t x) {
    return binary(g, IG_MUL, binary(g, IG_MUL, x, one_plus_erf(g, x)), build_scalar(g, 0.5f));
}

static int32_t gelu_halved_first(struct ig_graph *g, int32_t x) {
    return binary(g, IG_MUL, binary(g, IG_MUL, x, build_scalar(g, 0.5f)), one_plus_erf(g, x));
}

/* As a file in half precision has it. */
static int32_t gelu_of_halves(struct ig_graph *g, int32_t x) {
    int32_t e = act(g, IG_ERF, 0, 0, binary(g, IG_DIV, x, build_scalar(g, 1.4140625f)));
    return binary(g, IG_MUL, binary(g, IG_MUL, x, binary(g, IG_ADD, e, build_scalar(g, 1))), build_scalar(g, 0.5f));
}

/* The root's reciprocal, as a file in half precision or bfloat16 has it. */
static int32_t gelu_by_product(struct ig_graph *g, int32_t x) {
    int32_t e = act(g, IG_ERF, 0, 0, binary(g, IG_MUL, x, build_scalar(g, 0.70703125f)));
    return binary(g, IG_MUL, binary(g, IG_MUL, x, build_scalar(g, 0.5f)), binary(g, IG_ADD, e, build_scalar(g, 1)));
}

static int32_t cubed(struct ig_graph *g, int32_t x) {
    return binary(g, IG_MUL, x, binary(g, IG_MUL, x, x));
}

static int32_t power_of_three(struct ig_graph *g, int32_t x) {
    return binary(g, IG_POW, x, build_scalar(g, 3));
}

/* (1 + tanh(scale (x + bend x^3))) */
static int32_t one_plus_tangent(struct ig_graph *g, int32_t x, int32_t cube, float scale, float bend) {
    int32_t bent = binary(g, IG_ADD, x, binary(g, IG_MUL, build_scalar(g, bend), cube));
    return binary(g, IG_ADD, build_scalar(g, 1), act(g, IG_TANH, 0, 0, binary(g, IG_MUL, bent, build_scalar(g, scale))));
}

static int32_t gelu_by_tangent(struct ig_graph *g, int32_t x) {
    int32_t t = one_plus_tangent(g, x, cubed(g, x), 0.7978846f, 0.044715f);
    return binary(g, IG_MUL, build_scalar(g, 0.5f), binary(g, IG_MUL, x, t));
}

static int32_t gelu_by_tangent_of_halves(struct ig_graph *g, int32_t x) {
    int32_t t = one_plus_tangent(g, x, power_of_three(g, x), 0.79785156f, 0.044708252f);
    return binary(g, IG_MUL, binary(g, IG_MUL, x, build_scalar(g, 0.5f)), t);
}

static int32_t gelu_by_tangent_of_bfloats(struct ig_graph *g, int32_t x) {
    int32_t t = one_plus_tangent(g, x, power_of_three(g, x), 0.796875f, 0.044677734f);
    return binary(g, IG_MUL, binary(g, IG_MUL, x, build_scalar(g, 0.5f)), t);
}

static void functions_are_recognised(void **state) {
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
    composes(gelu_by_tangent, IG_GELU_TANH);
    composes_within(gelu_of_halves, IG_GELU, 1 / 2048.); /* what a half is rounded by */
    composes_within(gelu_by_product, IG_GELU, 1 / 2048.);
    composes_within(gelu_by_tangent_of_halves, IG_GELU_TANH, 1 / 2048.);
    composes_within(gelu_by_tangent_of_bfloats, IG_GELU_TANH, 1 / 256.);
}

static void lookalikes_of_functions_stay(void **state) {
    (void)state;
    struct ig_graph *g = empty();
    int32_t x = image(g), z = build_input(g, "z", DIMS(1, 6, 5, 4)), s = act(g, IG_SIGMOID, 0, 0, x);
    build_output(g, binary(g, IG_MUL, act(g, IG_SIGMOID, 0, 0, z), x), "gate"); /* of another tensor */
    build_output(g, binary(g, IG_MUL, act(g, IG_HARD_SIGMOID, 0.2f, 0.5f, x), x), "slope"); /* not 1/6 */
    build_output(g, binary(g, IG_MUL, s, x), "swish");
    build_output(g, binary(g, IG_MUL, x, one_plus_tangent(g, x, cubed(g, x), 0.7978846f, 0.05f)), "bend");
    build_output(g, binary(g, IG_MUL, x, one_plus_tangent(g, x, cubed(g, x), 0.7983f, 0.044715f)), "scale"); /* no rounding of it */
    build_output(g, binary(g, IG_MUL, x, one_plus_tangent(g, x, cubed(g, z), 0.7978846f, 0.044715f)), "cube"); /* of another tensor */
    build_output(g, act(g, IG_SIN, 0, 0, s), "s"); /* the sigmoid is wanted as well */
    assert_int_equal(improve(g, ig_pass_compose), 0);
    ig_graph_free(g);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sums_move_into_the_later_convolution),
        cmocka_unit_test(sums_stay_where_they_are_no_epilogue),
        cmocka_unit_test(branches_become_one_convolution),
        cmocka_unit_test(branches_stay_that_are_not_one),
        cmocka_unit_test(activations_move_into_epilogues),
        cmocka_unit_test(other_functions_stay),
        cmocka_unit_test(functions_are_recognised),
        cmocka_unit_test(lookalikes_of_functions_stay),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
