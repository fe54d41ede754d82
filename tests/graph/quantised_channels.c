/* The quantised pass: averages, what is linear channel by channel, sums and products with one pixel; and which of them must stay. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "tests/support/quantised.h"

/* --- averages --- */

static int32_t average(struct ig_graph *g, int how, int32_t x) {
    struct ig_pool pool = {.w = build_window(3, 1, 1), .kind = IG_POOL_AVERAGE, .count_include_pad = how == 1};
    switch (how) {
    case 0:
    case 1: return build_1(g, IG_POOL, ATTRS(.pool = pool), x);
    case 2: return build_1(g, IG_GLOBAL_POOL, ATTRS(.global_pool = {.kind = IG_POOL_AVERAGE}), x);
    default: return build_1(g, IG_REDUCE, ATTRS(.reduce = {.kind = IG_REDUCE_MEAN, .mask = 12}), x);
    }
}

static void averages(void **state) {
    (void)state;
    for (int how = 0; how < 8; how++) {
        struct ig_graph *g = ig_graph_new("g");
        int32_t y = average(g, how % 4, image(g));
        if (how >= 4) y = act(g, IG_RELU, 0, 0, y);
        done(g, quantised(g, y, how & 1 ? 1.0f / 64 : 1.0f / 128, IG_I8, how >= 4 ? -128 : 3)); /* a clip that the type does */
        EXPECT(g, IG_POOL, 1, IG_GLOBAL_POOL, 0, IG_REDUCE, 0, IG_UNARY, 0, IG_QUANTIZE, 1, IG_DEQUANTIZE, 1);
        assert_int_equal(only(g, IG_POOL)->n_in, 5);
        ig_graph_free(g);
    }
}

/* What gives the result another shape stands behind the bytes; what only moves before does, too. */
static void averages_that_are_moved(void **state) {
    (void)state;
    for (int how = 0; how < 4; how++) {
        struct ig_graph *g = ig_graph_new("g");
        int32_t y = average(g, how, max_pool(g, image(g))), rows = g->values[y].shape.dims[2] * g->values[y].shape.dims[3];
        y = quantised(g, build_reshape(g, y, DIMS(1, 6 * rows)), 1.0f / 64, IG_U8, 128);
        if (how & 1) y = max_pool(g, build_reshape(g, y, DIMS(1, 6, rows, 1)));
        done(g, quantised(g, y, 1.0f / 64, IG_U8, 128));
        EXPECT(g, IG_QUANTIZE, 1, IG_DEQUANTIZE, 1, IG_GLOBAL_POOL, 0, IG_REDUCE, 0);
        ig_graph_free(g);
    }
}

/* A clip that the type does not do; over rows alone; that somebody reads. */
static void averages_that_stay(void **state) {
    (void)state;
    for (int how = 0; how < 3; how++) {
        struct ig_graph *g = ig_graph_new("g");
        int32_t x = image(g), y;
        if (how == 1) y = build_1(g, IG_REDUCE, ATTRS(.reduce = {.kind = IG_REDUCE_MEAN, .mask = 4}), x);
        else y = average(g, 2, x);
        if (how == 0) y = act(g, IG_RELU, 0, 0, y);
        if (how == 2) build_output(g, y, "floats");
        build_output(g, quantised(g, y, 1.0f / 64, IG_U8, 128), "y");
        settle(g, 1.0 / 63); /* sums in another order */
        EXPECT(g, IG_QUANTIZE, 2, IG_DEQUANTIZE, 2);
        ig_graph_free(g);
    }
}

/* --- what is linear --- */

/* A power of two for each channel of an image, with either sign; or multiples of 1/64. */
static int32_t each(struct ig_graph *g, int is_scale, int32_t rank, const int32_t *dims) {
    int32_t v = build_const(g, rank, dims);
    for (int32_t i = 0; i < ig_count(&g->values[v].shape); i++)
        ((float *)(uintptr_t)g->values[v].data)[i] = is_scale ? ldexpf(i % 2 ? -1 : 1, -i % 3) : (float)(7 * i - 20) / 64;
    return v;
}

static void batch_normalisations(void **state) {
    (void)state;
    for (int how = 0; how < 16; how++) {
        struct ig_graph *g = ig_graph_new("g");
        int32_t y = image(g), scale = how & 4 ? each(g, 1, DIMS(1, 6, 1, 1)) : each(g, 1, DIMS(6, 1, 1)), shift = each(g, 0, DIMS(6, 1, 1));
        if (how & 8) shift = dequantise(g, constant(g, IG_I8, DIMS(6, 1, 1)), 1.0f / 64, 3);
        y = build_2(g, IG_BINARY, BIN(how & 4 ? IG_DIV : IG_MUL), y, scale);
        y = how & 2 ? build_2(g, IG_BINARY, BIN(IG_SUB), shift, y) : build_2(g, IG_BINARY, BIN(IG_ADD), y, shift);
        if (how & 1) y = act(g, IG_RELU, 0, 0, y);
        done(g, quantised(g, y, 1.0f / 32, how & 2 ? IG_U8 : IG_I8, 20));
        EXPECT(g, IG_BINARY, 0, IG_UNARY, 0, IG_QUANTIZE, 1, IG_DEQUANTIZE, 1);
        assert_int_equal(only(g, IG_QLINEAR_AFFINE)->attrs.unary.act.kind, how & 1 ? IG_CLIP : IG_NONE);
        ig_graph_free(g);
    }
}

/* Between two layers, whose tensors are images; each op quantised on its own; a matrix. */
static void linear_functions_elsewhere(void **state) {
    (void)state;
    for (int how = 0; how < 3; how++) {
        struct ig_graph *g = ig_graph_new("g");
        int32_t y = how == 2 ? quantised(g, build_input(g, "x", DIMS(9, 6)), 1.0f / 64, IG_U8, 128) : max_pool(g, image(g));
        y = build_2(g, IG_BINARY, BIN(IG_MUL), y, how == 2 ? each(g, 1, DIMS(6)) : each(g, 1, DIMS(6, 1, 1)));
        if (how == 1) y = quantised(g, y, 1.0f / 32, IG_U8, 100);
        y = quantised(g, build_2(g, IG_BINARY, BIN(IG_ADD), y, how == 2 ? each(g, 0, DIMS(1, 6)) : each(g, 0, DIMS(6, 1, 1))), 1.0f / 32, IG_U8, 90);
        done(g, how == 2 ? y : quantised(g, conv(g, y), 1.0f / 8, IG_U8, 128));
        EXPECT(g, IG_QLINEAR_AFFINE, how == 1 ? 2 : 1, IG_BINARY, 0, IG_QUANTIZE, 1, IG_DEQUANTIZE, 1, IG_TRANSPOSE, how == 2 ? 0 : 2);
        ig_graph_free(g);
    }
}

/* A number for every pixel; a product that somebody reads; a scale that is no finite number; one of run time. */
static void linear_functions_that_stay(void **state) {
    (void)state;
    for (int how = 0; how < 4; how++) {
        struct ig_graph *g = ig_graph_new("g");
        int32_t x = image(g), scale = how == 0 ? each(g, 1, DIMS(5, 4)) : how == 3 ? build_input(g, "s", DIMS(6, 1, 1)) : each(g, 1, DIMS(6, 1, 1));
        if (how == 2) ((float *)(uintptr_t)g->values[scale].data)[3] = INFINITY;
        int32_t y = build_2(g, IG_BINARY, BIN(IG_MUL), x, scale);
        if (how == 1) build_output(g, y, "floats");
        y = quantised(g, build_2(g, IG_BINARY, BIN(IG_ADD), y, each(g, 0, DIMS(6, 1, 1))), 1.0f / 32, IG_U8, 90);
        build_output(g, y, "y");
        settle(g, 0);
        EXPECT(g, IG_QLINEAR_AFFINE, 0, IG_QUANTIZE, 2);
        ig_graph_free(g);
    }
}

/* --- sums and products with a pixel --- */

/* Squeeze and excite: a tensor by a function of its averages, from either side, alone and between layers. */
static void pixels(void **state) {
    (void)state;
    for (int how = 0; how < 8; how++) {
        struct ig_graph *g = ig_graph_new("g");
        int32_t x = max_pool(g, image(g)), pixel = quantised(g, average(g, 2, x), 1.0f / 64, IG_U8, 100), y;
        pixel = quantised(g, act(g, IG_HARD_SIGMOID, 0.25f, 0.5f, pixel), 1.0f / 256, IG_U8, 0);
        y = build_2(g, IG_BINARY, BIN(how & 1 ? IG_ADD : IG_MUL), how & 2 ? pixel : x, how & 2 ? x : pixel);
        y = quantised(g, y, 1.0f / 32, IG_U8, 100);
        done(g, how & 4 ? quantised(g, conv(g, y), 1.0f / 8, IG_U8, 128) : y);
        const struct ig_node *n = only(g, IG_QLINEAR_BINARY);
        EXPECT(g, IG_BINARY, 0, IG_GLOBAL_POOL, 0, IG_QUANTIZE, 1, IG_DEQUANTIZE, 1);
        assert_int_equal(ig_count(&g->values[n->in[0]].shape), 120);
        assert_int_equal(ig_count(&g->values[n->in[3]].shape), 6);
        ig_graph_free(g);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(averages),
        cmocka_unit_test(averages_that_are_moved),
        cmocka_unit_test(averages_that_stay),
        cmocka_unit_test(batch_normalisations),
        cmocka_unit_test(linear_functions_elsewhere),
        cmocka_unit_test(linear_functions_that_stay),
        cmocka_unit_test(pixels),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
