/* The quantised pass: matrix products, fully connected layers, sums and products of two tensors. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "tests/support/quantised.h"

static int32_t matmul(struct ig_graph *g, int32_t a, int32_t b, int trans_b) {
    return build_2(g, IG_MATMUL, ATTRS(.matmul = {.trans_b = trans_b, .alpha = 1}), a, b);
}

/* The only convolution has 7 outputs, and nothing is transposed. */
static void check_product(const struct ig_graph *g) {
    EXPECT(g, IG_MATMUL, 0, IG_QLINEAR_MATMUL, 0, IG_FC, 0, IG_CONV, 0, IG_TRANSPOSE, 0, IG_BINARY, 0);
    const struct ig_node *n = only(g, IG_QLINEAR_CONV);
    assert_int_equal(g->values[n->in[3]].shape.dims[0], 7);
    assert_int_equal(g->values[n->in[3]].shape.dims[1], 5);
}

static void products(void **state) {
    static const int32_t dims[][4] = {{1, 5}, {9, 5}, {3, 9, 5}, {1, 3, 4, 5}};
    static const int ranks[] = {2, 2, 3, 4};
    (void)state;
    for (int kind = 0; kind < 16; kind++) { /* of a rank, turned, with a bias */
        struct ig_graph *g = ig_graph_new("g");
        int rank = ranks[kind / 4], turned = kind & 1;
        int32_t x = quantised(g, build_input(g, "x", rank, dims[kind / 4]), 1.0f / 64, IG_U8, 128);
        int32_t b = turned ? constant(g, IG_I8, DIMS(7, 5)) : constant(g, IG_I8, DIMS(5, 7));
        int32_t y = matmul(g, x, dequantise_each(g, b, turned ? 0 : 1, 7), turned);
        if (kind & 2) y = act(g, IG_RELU, 0, 0, build_2(g, IG_BINARY, BIN(IG_ADD), y, dequantise(g, constant(g, IG_I32, DIMS(7)), 1.0f / 8192, 0)));
        done(g, quantised(g, y, 1.0f / 32, IG_U8, kind & 2 ? 0 : 100));
        check_product(g);
        EXPECT(g, IG_QUANTIZE, 1, IG_DEQUANTIZE, 1);
        ig_graph_free(g);
    }
}

/* A constant that is transposed first, as PyTorch's linear layers are; behind a flattening that stands between no others. */
static void a_linear_layer(void **state) {
    struct ig_graph *g = ig_graph_new("g");
    (void)state;
    int32_t x = build_reshape(g, quantised(g, build_input(g, "x", DIMS(1, 5, 1, 1)), 1.0f / 64, IG_U8, 128), DIMS(1, 5));
    int32_t b = build_1(g, IG_TRANSPOSE, ATTRS(.transpose = {.perm = {1, 0}}), dequantise_each(g, constant(g, IG_I8, DIMS(7, 5)), 0, 7));
    done(g, quantised(g, matmul(g, x, b, 0), 1.0f / 32, IG_I8, 3));
    check_product(g);
    ig_graph_free(g);
}

/* A fully connected layer behind an image: the window takes all of it, and the channels stay last. */
static void a_flattened_image(void **state) {
    static const int32_t images[][4] = {{1, 6, 5, 4}, {1, 6, 1, 1}, {1, 6, 5}};
    static const int32_t ranks[] = {4, 4, 3}, ks[] = {120, 6, 30};
    (void)state;
    for (int kind = 0; kind < 3; kind++) {
        struct ig_graph *g = ig_graph_new("g");
        int32_t k = ks[kind], x = quantised(g, build_input(g, "x", ranks[kind], images[kind]), 1.0f / 64, IG_U8, 128);
        x = quantised(g, build_reshape(g, x, DIMS(1, k)), 1.0f / 64, IG_U8, 128);
        int32_t b = kind & 1 ? constant(g, IG_I8, DIMS(7, k)) : constant(g, IG_I8, DIMS(k, 7));
        done(g, quantised(g, matmul(g, x, dequantise_each(g, b, kind & 1 ? 0 : 1, 7), kind & 1), 1.0f / 8, IG_I8, 3));
        EXPECT(g, IG_MATMUL, 0, IG_FC, 0, IG_TRANSPOSE, kind == 1 ? 0 : 1 /* of the input */);
        const struct ig_window *w = &only(g, IG_QLINEAR_CONV)->attrs.conv.w;
        assert_int_equal(w->kd * w->kh * w->kw, k / 6);
        ig_graph_free(g);
    }
}

static void products_that_stay(void **state) {
    static const union ig_attrs attrs[] = {{.matmul = {0, 0, 2}}, {.matmul = {1, 0, 1}}, {.matmul = {0, 0, 1}}, {.matmul = {0, 0, 1}}};
    (void)state;
    for (int how = 0; how < 4; how++) { /* a factor; turned; by a run-time matrix; scales along the wrong dim */
        struct ig_graph *g = ig_graph_new("g");
        int32_t x = quantised(g, build_input(g, "x", DIMS(5, 5)), 1.0f / 64, IG_U8, 128), c = constant(g, IG_I8, DIMS(5, 7));
        int32_t b = how == 2 ? quantised(g, build_input(g, "b", DIMS(5, 7)), 1.0f / 64, IG_I8, 0)
                    : how == 3 ? dequantise_each(g, c, 0, 5) : dequantise(g, c, 1.0f / 128, 0);
        done(g, quantised(g, build_2(g, IG_MATMUL, &attrs[how], x, b), 1.0f / 8, IG_U8, 100));
        EXPECT(g, IG_QLINEAR_CONV, 0, IG_DEQUANTIZE, how == 2 ? 3 : 2, IG_QUANTIZE, how == 2 ? 3 : 2);
        ig_graph_free(g);
    }
}

/* ONNX's own quantised product, by a constant: as it is of a scale for every row, else a convolution. */
static void qlinear_matmul(void **state) {
    (void)state;
    for (int rows = 0; rows < 3; rows++) { /* scales and zeros; scales alone */
        struct ig_graph *g = ig_graph_new("g");
        const struct ig_shape nine = {IG_U8, 1, {9, 1, 1, 1, 1, 1, 1, 1}};
        int32_t x = quantise(g, build_input(g, "x", DIMS(9, 5)), 1.0f / 64, IG_U8, 128), b_zero = constant(g, IG_I8, DIMS(7));
        int32_t scale = rows ? powers(g, 9, -5) : build_scalar(g, 1.0f / 64), scales = powers(g, 7, -6);
        int32_t zero = rows == 1 ? ig_add_const(g, "zero", &nine, NULL) : zero_of(g, IG_U8, 128);
        int32_t in[8] = {x, scale, zero, constant(g, IG_I8, DIMS(5, 7)), scales, b_zero, build_scalar(g, 1.0f / 8), zero_of(g, IG_I8, 4)};
        done(g, build_node(g, IG_QLINEAR_MATMUL, NULL, 8, in, NULL));
        if (rows) EXPECT(g, IG_QLINEAR_MATMUL, 1, IG_QLINEAR_CONV, 0);
        else check_product(g);
        ig_graph_free(g);
    }
}

/* --- sums and products of two tensors --- */

static void sums(void **state) {
    (void)state;
    for (int kind = 0; kind < 4; kind++) {
        struct ig_graph *g = ig_graph_new("g");
        int32_t a = image(g), b = quantised(g, build_input(g, "b", DIMS(1, 6, 5, 4)), 1.0f / 32, IG_I8, -5);
        int32_t y = build_2(g, IG_BINARY, BIN(kind & 1 ? IG_MUL : IG_ADD), a, b);
        if (kind & 2) y = act(g, IG_RELU, 0, 0, y);
        done(g, quantised(g, y, 1.0f / 16, IG_U8, 20));
        EXPECT(g, IG_BINARY, 0, IG_UNARY, 0, IG_QUANTIZE, 2, IG_DEQUANTIZE, 1);
        const struct ig_binary_attr *attr = &only(g, IG_QLINEAR_BINARY)->attrs.binary;
        assert_int_equal(attr->kind, kind & 1 ? IG_MUL : IG_ADD);
        assert_int_equal(attr->act.kind, kind & 2 ? IG_CLIP : IG_NONE);
        ig_graph_free(g);
    }
}

static void sums_that_stay(void **state) {
    (void)state;
    for (int how = 0; how < 3; how++) { /* a row; a float; a difference */
        struct ig_graph *g = ig_graph_new("g");
        int32_t a = image(g), b = how == 0 ? build_input(g, "b", DIMS(1, 6, 1, 4)) : build_input(g, "b", DIMS(1, 6, 5, 4));
        if (how != 1) b = quantised(g, b, 1.0f / 32, IG_I8, -5);
        done(g, quantised(g, build_2(g, IG_BINARY, BIN(how == 2 ? IG_SUB : IG_ADD), a, b), 1.0f / 16, IG_U8, 20));
        EXPECT(g, IG_BINARY, 1, IG_QLINEAR_BINARY, 0);
        ig_graph_free(g);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(products),
        cmocka_unit_test(a_linear_layer),
        cmocka_unit_test(a_flattened_image),
        cmocka_unit_test(products_that_stay),
        cmocka_unit_test(qlinear_matmul),
        cmocka_unit_test(sums),
        cmocka_unit_test(sums_that_stay),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
