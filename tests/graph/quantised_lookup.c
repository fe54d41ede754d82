/* The quantised pass: which functions of one tensor become lookups, and which must stay. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "tests/support/quantised.h"

/* One table, and nothing of floats but what makes the input bytes and the output floats. */
static void expect_lookups(const struct ig_graph *g, int lookups) {
    EXPECT(g, IG_LOOKUP, lookups, IG_UNARY, 0, IG_BINARY, 0, IG_QLINEAR_BINARY, 0, IG_QUANTIZE, 1, IG_DEQUANTIZE, 1);
}

static void functions(void **state) {
    static const struct ig_act acts[] = {{IG_SIGMOID, 0, 0},  {IG_TANH, 0, 0},         {IG_HARD_SWISH, 0, 0}, {IG_LEAKY_RELU, 0.1f, 0}, {IG_EXP, 0, 0},
                                         {IG_RELU, 0, 0},     {IG_CLIP, -0.7f, 1.3f},  {IG_HARD_SIGMOID, 0.2f, 0.5f}, {IG_NEG, 0, 0},   {IG_SQRT, 0, 0}};
    (void)state;
    for (int i = 0; i < (int)(sizeof acts / sizeof *acts); i++)
        for (int types = 0; types < 4; types++) {
            struct ig_graph *g = ig_graph_new("g");
            int32_t x = build_input(g, "x", DIMS(1, 6, 5, 4)), from = types & 1 ? IG_I8 : IG_U8, to = types & 2 ? IG_I8 : IG_U8;
            x = quantised(g, x, 0.0131f, from, from == IG_I8 ? -3 : 121);
            done(g, quantised(g, act(g, acts[i].kind, acts[i].alpha, acts[i].beta, x), 0.0107f, to, to == IG_I8 ? -20 : 40));
            expect_lookups(g, 1);
            assert_int_equal(g->values[only(g, IG_LOOKUP)->in[1]].shape.type, to);
            ig_graph_free(g);
        }
}

/* x f(x), in floats and by bytes of its own, from either side; behind another function, by bytes or not. */
static void products_by_functions_of_the_same(void **state) {
    (void)state;
    for (int how = 0; how < 16; how++) {
        struct ig_graph *g = ig_graph_new("g");
        int32_t x = image(g), y;
        if (how & 4) x = act(g, IG_TANH, 0, 0, x);
        if (how & 8) x = quantised(g, x, 0.0077f, IG_I8, 4);
        y = act(g, how & 4 ? IG_EXP : IG_SIGMOID, 0, 0, x);
        if (how & 1) y = quantised(g, y, 0.0039f, IG_U8, 0);
        done(g, quantised(g, build_2(g, IG_BINARY, BIN(IG_MUL), how & 2 ? x : y, how & 2 ? y : x), 0.0083f, IG_U8, 28));
        expect_lookups(g, 1);
        ig_graph_free(g);
    }
}

/* The same as QuantFormat.QOperator writes it: by onnxruntime's QLinearMul. */
static void products_of_bytes(void **state) {
    (void)state;
    for (int how = 0; how < 4; how++) { /* from either side; x by itself; by another tensor */
        struct ig_graph *g = ig_graph_new("g");
        int32_t x = quantise(g, build_input(g, "x", DIMS(1, 6, 5, 4)), 0.0131f, IG_U8, 121), s = build_scalar(g, 0.0131f), z = zero_of(g, IG_U8, 121);
        int32_t f = build_node(g, IG_DEQUANTIZE, NULL, 3, (int32_t[]){x, s, z}, NULL), fs = build_scalar(g, 0.0039f), fz = zero_of(g, IG_U8, 0);
        int32_t other = how == 3 ? build_input(g, "other", DIMS(1, 6, 5, 4)) : act(g, IG_SIGMOID, 0, 0, f);
        f = quantise_by(g, other, fs, fz);
        int32_t a[3] = {x, s, z}, b[3] = {f, fs, fz}, in[8];
        memcpy(in, how == 1 ? b : a, sizeof a), memcpy(in + 3, how == 1 || how == 2 ? a : b, sizeof a);
        in[6] = build_scalar(g, 0.0083f), in[7] = zero_of(g, IG_U8, 28);
        int32_t y = build_node(g, IG_QLINEAR_BINARY, BIN(IG_MUL), 8, in, NULL);
        done(g, build_node(g, IG_DEQUANTIZE, NULL, 3, (int32_t[]){y, in[6], in[7]}, NULL));
        if (how < 3) expect_lookups(g, 1);
        else EXPECT(g, IG_LOOKUP, 0, IG_QLINEAR_BINARY, 1);
        ig_graph_free(g);
    }
}

/* Two functions of a tensor that is read by nothing else; a choice between them. */
static void functions_of_functions(void **state) {
    (void)state;
    for (int how = 0; how < 2; how++) {
        struct ig_graph *g = ig_graph_new("g");
        int32_t x = image(g), zero = build_scalar(g, 0.02f), in[3];
        in[1] = quantised(g, act(g, IG_TANH, 0, 0, x), 0.0079f, IG_I8, 1);
        in[2] = quantised(g, act(g, IG_SIGMOID, 0, 0, x), 0.0039f, IG_U8, 0);
        in[0] = how ? build_2(g, IG_BINARY, BIN(IG_GREATER), in[1], zero) : -1;
        x = how ? build_node(g, IG_WHERE, NULL, 3, in, NULL) : build_2(g, IG_BINARY, BIN(IG_MUL), in[1], in[2]);
        done(g, quantised(g, x, 0.0065f, IG_U8, 100));
        expect_lookups(g, 1);
        EXPECT(g, IG_WHERE, 0);
        ig_graph_free(g);
    }
}

/* Numbers of more dims than the tensor has. */
static void functions_that_add_dims(void **state) {
    (void)state;
    for (int how = 0; how < 2; how++) {
        struct ig_graph *g = ig_graph_new("g");
        int32_t x = how ? build_input(g, "x", DIMS(1)) : build_input(g, "x", DIMS(5));
        x = build_2(g, IG_BINARY, BIN(IG_MAX), quantised(g, x, 0.0131f, IG_U8, 121), build_const(g, DIMS(1, 1)));
        done(g, quantised(g, x, 0.0121f, IG_U8, 111));
        EXPECT(g, IG_LOOKUP, 0, IG_BINARY, 1, IG_QUANTIZE, 2);
        ig_graph_free(g);
    }
}

/* Numbers of any rank; one that is quantised. */
static void functions_of_numbers(void **state) {
    (void)state;
    for (int how = 0; how < 3; how++) {
        struct ig_graph *g = ig_graph_new("g");
        int32_t x = image(g), by = how ? build_const(g, DIMS(1, 1, 1)) : build_scalar(g, 1.7f);
        if (how == 2) by = dequantise(g, constant(g, IG_I8, DIMS(1)), 0.031f, 3);
        x = build_2(g, IG_BINARY, BIN(IG_DIV), build_2(g, IG_BINARY, BIN(IG_SUB), by, x), build_scalar(g, 0.93f));
        x = build_2(g, IG_BINARY, BIN(IG_MAX), x, build_scalar(g, -0.5f));
        done(g, quantised(g, x, 0.0123f, IG_I8, 5));
        expect_lookups(g, 1);
        ig_graph_free(g);
    }
}

/* Of two in a row one is left, where nothing else wants what is between; else two. */
static void functions_in_a_row(void **state) {
    (void)state;
    for (int how = 0; how < 3; how++) { /* the middle: wanted by nobody; by a convolution; by the network's user */
        struct ig_graph *g = ig_graph_new("g");
        const struct ig_shape bytes = {IG_I8, 4, {1, 6, 5, 4, 1, 1, 1, 1}};
        int32_t x = quantised(g, act(g, IG_TANH, 0, 0, image(g)), 1.0f / 128, IG_I8, 3);
        if (how == 1) build_output(g, quantised(g, conv(g, x), 1.0f / 8, IG_U8, 100), "other");
        if (how == 2) build_output(g, build_node(g, IG_COPY, NULL, 1, &g->nodes[g->n_nodes - 1].in[0], &bytes), "other");
        x = quantised(g, act(g, IG_LEAKY_RELU, 0.1f, 0, x), 0.011f, IG_U8, 77);
        done(g, quantised(g, act(g, IG_EXP, 0, 0, x), 0.021f, IG_U8, 1));
        EXPECT(g, IG_LOOKUP, how ? 2 : 1, IG_UNARY, 0, IG_QUANTIZE, 1, IG_DEQUANTIZE, how == 1 ? 2 : 1);
        int in_a_row = 0;
        for (int i = 0; i < g->n_nodes; i++)
            in_a_row += g->nodes[i].op == IG_LOOKUP && g->nodes[g->values[g->nodes[i].in[0]].producer].op == IG_LOOKUP;
        if (how != 1) assert_int_equal(in_a_row, how == 2); /* else one of them has its channels last, and the other not */
        ig_graph_free(g);
    }
}

/* x, less 256 where it is 128 or more, in steps of 1/64: the same bytes with a sign. */
static int32_t wrapped(struct ig_graph *g, int32_t x) {
    int32_t less = build_2(g, IG_BINARY, BIN(IG_SUB), x, build_scalar(g, 4));
    int32_t in[3] = {build_2(g, IG_BINARY, BIN(IG_GREATER), x, build_scalar(g, 127.5f / 64)), less, x};
    return build_node(g, IG_WHERE, NULL, 3, in, NULL);
}

/* What does nothing by the scales that there are; of other signs the bytes differ, or the type alone does. */
static void functions_that_are_none(void **state) {
    (void)state;
    for (int how = 0; how < 6; how++) {
        struct ig_graph *g = ig_graph_new("g");
        int32_t zero = how == 1 ? 128 : 0, type = how >= 4 ? IG_I8 : IG_U8;
        int32_t x = quantised(g, build_input(g, "x", DIMS(1, 6, 5, 4)), 1.0f / 64, IG_U8, zero);
        if (how < 2) x = act(g, IG_RELU, 0, 0, x); /* below 0 there is nothing, or there is */
        if (how == 2) x = act(g, IG_NEG, 0, 0, quantised(g, act(g, IG_NEG, 0, 0, x), 1.0f / 64, IG_U8, 255));
        if (how == 3) x = act(g, IG_CLIP, -1, 255.0f / 64, x);
        if (how == 5) x = wrapped(g, x);
        done(g, quantised(g, x, 1.0f / 64, type, how == 4 ? -128 : zero));
        expect_lookups(g, how == 1 || how >= 4);
        ig_graph_free(g);
    }
}

/* Behind a convolution, before one, and around what only moves. */
static void functions_among_layers(void **state) {
    struct ig_graph *g = ig_graph_new("g");
    (void)state;
    int32_t x = quantised(g, conv(g, image(g)), 1.0f / 8, IG_I8, 0);
    x = max_pool(g, quantised(g, act(g, IG_HARD_SWISH, 0, 0, x), 1.0f / 16, IG_U8, 9));
    done(g, quantised(g, act(g, IG_SIGMOID, 0, 0, x), 1.0f / 256, IG_U8, 0));
    EXPECT(g, IG_QLINEAR_CONV, 1, IG_POOL, 1, IG_LOOKUP, 2, IG_UNARY, 0, IG_QUANTIZE, 1, IG_DEQUANTIZE, 1);
    ig_graph_free(g);
}

static int32_t no_function(struct ig_graph *g, int how, int32_t x) {
    switch (how) {
    case 0: return build_2(g, IG_BINARY, BIN(IG_MAX), x, quantised(g, build_input(g, "b", DIMS(1, 6, 5, 4)), 1.0f / 32, IG_I8, -5));
    case 1: return build_2(g, IG_BINARY, BIN(IG_MAX), x, build_const(g, DIMS(6, 1, 1)));   /* a number for each channel */
    case 2: return build_2(g, IG_BINARY, BIN(IG_MAX), x, build_input(g, "b", DIMS(1)));    /* one of run time */
    case 3: return build_2(g, IG_BINARY, BIN(IG_MAX), x, build_input(g, "b", DIMS(1, 6, 5, 4))); /* floats */
    case 4: return build_1(g, IG_SOFTMAX, ATTRS(.axis = {.axis = 1}), x);
    default: return build_2(g, IG_BINARY, BIN(IG_MAX), build_1(g, IG_GLOBAL_POOL, ATTRS(.global_pool = {.kind = IG_POOL_AVERAGE}), x), x);
    }
}

static void functions_that_stay(void **state) {
    (void)state;
    for (int how = 0; how < 6; how++) {
        struct ig_graph *g = ig_graph_new("g");
        build_output(g, quantised(g, no_function(g, how, image(g)), 1.0f / 64, IG_U8, 20), "y");
        settle(g, 1.0 / 63);
        EXPECT(g, IG_LOOKUP, 0, IG_QUANTIZE, how == 0 ? 3 : 2);
        ig_graph_free(g);
    }
}

/* A scale for each channel, before or behind. */
static void functions_by_channel(void **state) {
    const struct ig_shape bytes = {IG_U8, 4, {1, 6, 5, 4, 1, 1, 1, 1}};
    (void)state;
    for (int behind = 0; behind < 2; behind++) {
        struct ig_graph *g = ig_graph_new("g");
        int32_t x = build_input(g, "x", DIMS(1, 6, 5, 4)), scales = powers(g, 6, -6), in[2] = {-1, scales};
        x = quantise(g, x, 1.0f / 64, IG_U8, 0);
        in[0] = x;
        x = behind ? dequantise(g, x, 1.0f / 64, 0) : build_node(g, IG_DEQUANTIZE, ATTRS(.axis = {.axis = 1}), 2, in, NULL);
        in[0] = x = act(g, IG_SIGMOID, 0, 0, x);
        done(g, behind ? build_node(g, IG_QUANTIZE, ATTRS(.axis = {.axis = 1}), 2, in, &bytes) : quantise(g, x, 1.0f / 256, IG_U8, 0));
        EXPECT(g, IG_LOOKUP, 0, IG_UNARY, behind, IG_BINARY, 1, IG_QUANTIZE, 2, IG_DEQUANTIZE, 1);
        ig_graph_free(g);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(functions),
        cmocka_unit_test(products_by_functions_of_the_same),
        cmocka_unit_test(products_of_bytes),
        cmocka_unit_test(functions_of_functions),
        cmocka_unit_test(functions_that_add_dims),
        cmocka_unit_test(functions_of_numbers),
        cmocka_unit_test(functions_in_a_row),
        cmocka_unit_test(functions_that_are_none),
        cmocka_unit_test(functions_among_layers),
        cmocka_unit_test(functions_that_stay),
        cmocka_unit_test(functions_by_channel),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
