/*
 * The quantised pass: what floats between DequantizeLinear and QuantizeLinear become, and what must stay; functions of one tensor
 * are in quantised_lookup.c, products and sums in quantised_products.c.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "tests/support/quantised.h"

/* --- convolutions --- */

static void convolutions(void **state) {
    (void)state;
    for (int kind = 0; kind < 12; kind++) { /* scales, groups, biases, types */
        struct ig_graph *g = ig_graph_new("g");
        int each = kind % 2, groups = kind % 3 == 2 ? 2 : 1, type = kind % 4 < 2 ? IG_U8 : IG_I8;
        int32_t x = image(g), w = constant(g, kind < 6 ? IG_I8 : IG_U8, DIMS(4, 6 / groups, 3, 3)), bias = -1;
        w = each ? dequantise_each(g, w, 0, 4) : dequantise(g, w, 1.0f / 128, kind < 6 ? 0 : 120);
        if (kind % 3 == 1) bias = build_const(g, DIMS(4));
        for (int i = 0; bias >= 0 && i < 4; i++) ((float *)(uintptr_t)g->values[bias].data)[i] = (float)(i - 2) * 0.375f;
        if (kind % 3 == 2) bias = dequantise(g, constant(g, IG_I32, DIMS(4)), 1.0f / 8192, 0);
        done(g, quantised(g, conv_of(g, x, w, bias, groups), 1.0f / 8, type, type == IG_U8 ? 100 : -9));
        EXPECT(g, IG_CONV, 0, IG_QLINEAR_CONV, 1, IG_QUANTIZE, 1, IG_DEQUANTIZE, 1);
        assert_int_equal(only(g, IG_QLINEAR_CONV)->n_in, bias < 0 ? 8 : 9);
        ig_graph_free(g);
    }
}

/* An activation is what the result's type does, or a clip between integers. */
static void activations(void **state) {
    static const struct {
        struct ig_act act;
        int32_t type, zero;
        struct ig_act clip;
    } cases[] = {{{IG_RELU, 0, 0}, IG_U8, 0, {IG_NONE, 0, 0}},      {{IG_RELU, 0, 0}, IG_U8, 9, {IG_CLIP, 9, 255}},
                 {{IG_RELU, 0, 0}, IG_I8, -128, {IG_NONE, 0, 0}},   {{IG_RELU, 0, 0}, IG_I8, 0, {IG_CLIP, 0, 127}},
                 {{IG_CLIP, 0, 6}, IG_U8, 0, {IG_CLIP, 0, 48}},     {{IG_CLIP, 0, 32}, IG_U8, 0, {IG_NONE, 0, 0}},
                 {{IG_CLIP, -1, 2.05f}, IG_I8, 7, {IG_CLIP, -1, 23}}, {{IG_CLIP, -1e30f, 1e30f}, IG_I8, 0, {IG_NONE, 0, 0}}};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct ig_graph *g = ig_graph_new("g");
        int32_t x = act(g, cases[i].act.kind, cases[i].act.alpha, cases[i].act.beta, conv(g, image(g)));
        done(g, quantised(g, x, 1.0f / 8, cases[i].type, cases[i].zero));
        EXPECT(g, IG_CONV, 0, IG_UNARY, 0);
        const struct ig_act *got = &only(g, IG_QLINEAR_CONV)->attrs.conv.act;
        if (got->kind != cases[i].clip.kind || memcmp(&got->alpha, &cases[i].clip.alpha, 8))
            fail_msg("case %d: %s %g %g", (int)i, ig_unary_name(got->kind), (double)got->alpha, (double)got->beta);
        ig_graph_free(g);
    }
}

/* A bias that is no multiple of the scales is rounded to one: the result is within a quantum. */
static void a_bias_of_floats_is_rounded(void **state) {
    struct ig_graph *g = ig_graph_new("g");
    (void)state;
    int32_t w = dequantise(g, constant(g, IG_I8, DIMS(4, 6, 3, 3)), 0.011f, 0);
    int32_t bias = build_const(g, DIMS(4));
    const float *of = g->values[bias].data;
    build_output(g, quantised(g, conv_of(g, image(g), w, bias, 1), 0.1f, IG_U8, 100), "y");
    settle(g, 0.1001);
    EXPECT(g, IG_CONV, 0);
    const int32_t *got = g->values[only(g, IG_QLINEAR_CONV)->in[8]].data;
    for (int i = 0; i < 4; i++) assert_int_equal(got[i], (int32_t)rint((double)of[i] / (1.0 / 64 * (double)0.011f)));
    ig_graph_free(g);
}

/* Weights that are floats, quantised by the network itself. */
static void weights_are_quantised(void **state) {
    struct ig_graph *g = ig_graph_new("g");
    (void)state;
    int32_t w = quantised(g, build_const(g, DIMS(4, 6, 3, 3)), 1.0f / 32, IG_I8, 0);
    done(g, quantised(g, conv_of(g, image(g), w, -1, 1), 1.0f / 8, IG_U8, 100));
    EXPECT(g, IG_CONV, 0, IG_QLINEAR_CONV, 1, IG_QUANTIZE, 1, IG_DEQUANTIZE, 1);
    ig_graph_free(g);
}

/* Two that want the same bytes both have them, and a tensor that is quantised twice is so once. */
static void shared_tensors(void **state) {
    struct ig_graph *g = ig_graph_new("g");
    (void)state;
    int32_t x = image(g), y = act(g, IG_RELU, 0, 0, conv(g, x));
    int32_t a = quantised(g, y, 1.0f / 8, IG_U8, 0), b = quantised(g, y, 1.0f / 8, IG_U8, 0);
    build_output(g, quantised(g, conv(g, x), 1.0f / 8, IG_I8, 0), "other");
    done(g, quantised(g, build_2(g, IG_BINARY, BIN(IG_ADD), max_pool(g, a), b), 1.0f / 4, IG_U8, 0));
    EXPECT(g, IG_CONV, 0, IG_QLINEAR_CONV, 2, IG_QLINEAR_BINARY, 1, IG_POOL, 1, IG_QUANTIZE, 1, IG_DEQUANTIZE, 2);
    ig_graph_free(g);
}

/* Padding that a layer of its own makes is the convolution's, where it is zeros. */
static void padding_before(void **state) {
    (void)state;
    for (int how = 0; how < 3; how++) { /* of the same scale; of another zero; by what is no zero */
        struct ig_graph *g = ig_graph_new("g");
        float value = how == 2 ? 0.5f : 0;
        int32_t x = max_pool(g, image(g)); /* which makes the channels the last dim */
        x = build_1(g, IG_PAD, ATTRS(.pad = {.begin = {0, 0, 1, 2}, .end = {0, 0, 0, 1}, .value = value}), x);
        x = quantised(g, x, 1.0f / 64, IG_U8, how == 1 ? 100 : 128);
        done(g, quantised(g, conv(g, x), 1.0f / 8, IG_U8, 100));
        EXPECT(g, IG_QLINEAR_CONV, 1, IG_PAD, how ? 1 : 0);
        ig_graph_free(g);
    }
}

/* What makes a convolution one that must stay; from RUN_TIME_SCALE on one that makes floats of bytes. */
enum { RUN_TIME_WEIGHTS, FLOAT_WEIGHTS, WRONG_AXIS, LARGE_BIAS, RUN_TIME_BIAS, CHANNEL_SCALES_OF_X, NEGATIVE_SCALE, RUN_TIME_SCALE,
       INFINITE_SCALE, OTHER_ACTIVATION, EMPTY_CLIP, TWO_READERS, AN_OUTPUT, ZEROS_OF_Y, OBSTACLES };

static int32_t obstacle_x(struct ig_graph *g, int how) {
    int32_t x = build_input(g, "x", DIMS(1, 6, 5, 4));
    if (how != CHANNEL_SCALES_OF_X) return quantised(g, x, 1.0f / 64, IG_U8, 128);
    int32_t in[3] = {quantise(g, x, 1.0f / 64, IG_U8, 128), powers(g, 6, -6), constant(g, IG_U8, DIMS(6))};
    return build_node(g, IG_DEQUANTIZE, ATTRS(.axis = {.axis = 1}), 3, in, NULL);
}

static int32_t obstacle_weights(struct ig_graph *g, int how) {
    int32_t w = constant(g, IG_I8, DIMS(6, 6, 3, 3));
    if (how == FLOAT_WEIGHTS) return build_const(g, DIMS(6, 6, 3, 3));
    if (how == RUN_TIME_WEIGHTS) return quantised(g, build_input(g, "w", DIMS(6, 6, 3, 3)), 1.0f / 32, IG_I8, 0);
    if (how == WRONG_AXIS) return dequantise_each(g, w, 1, 6);
    return dequantise(g, w, how == NEGATIVE_SCALE ? -1.0f / 128 : 1.0f / 128, 0);
}

static int32_t obstacle_bias(struct ig_graph *g, int how) {
    if (how == RUN_TIME_BIAS) return build_input(g, "bias", DIMS(6));
    if (how != LARGE_BIAS) return -1;
    int32_t v = build_const(g, DIMS(6));
    ((float *)(uintptr_t)g->values[v].data)[3] = 140000; /* 2^30 / 8192 = 131072 */
    return v;
}

static void obstacles(void **state) {
    (void)state;
    for (int how = 0; how < OBSTACLES; how++) {
        struct ig_graph *g = ig_graph_new("g");
        int32_t x = obstacle_x(g, how), w = obstacle_weights(g, how), y = conv_of(g, x, w, obstacle_bias(g, how), 1);
        if (how == OTHER_ACTIVATION) y = act(g, IG_LEAKY_RELU, 0.25f, 0, y);
        if (how == EMPTY_CLIP) y = act(g, IG_CLIP, 3, 1, y);
        if (how == TWO_READERS) build_output(g, act(g, IG_NEG, 0, 0, y), "other");
        if (how == AN_OUTPUT) build_output(g, y, "other");
        int32_t scale = how == RUN_TIME_SCALE ? build_input(g, "s", DIMS(1)) : build_scalar(g, how == INFINITE_SCALE ? INFINITY : 0.125f);
        if (how == ZEROS_OF_Y) y = quantise_each(g, y, 6, constant(g, IG_U8, DIMS(6)));
        else y = quantise_by(g, y, scale, zero_of(g, IG_U8, 100));
        build_output(g, y, "y");
        settle(g, 1e-5);
        if (build_count(g, IG_CONV) != (how < RUN_TIME_SCALE)) fail_msg("obstacle %d is none", how);
        if (how >= RUN_TIME_SCALE) assert_int_equal(g->values[only(g, IG_QLINEAR_CONV)->out[0]].shape.type, IG_F32);
        else EXPECT(g, IG_QLINEAR_CONV, 0);
        ig_graph_free(g);
    }
}

/* Layers at a network's end, whose results are floats: with and without a bias, a matrix from either side; none has floats for weights. */
static void layers_without_an_end(void **state) {
    (void)state;
    for (int how = 0; how < 8; how++) {
        struct ig_graph *g = ig_graph_new("g");
        const int is_product = how & 2, turned = how & 4;
        int32_t y, bias = how & 1 ? dequantise(g, constant(g, IG_I32, DIMS(is_product ? 7 : 4)), 1.0f / 8192, 0) : -1;
        if (is_product) {
            int32_t x = quantised(g, build_input(g, "x", DIMS(turned ? 1 : 9, 5)), 1.0f / 64, IG_U8, 128);
            int32_t w = dequantise(g, turned ? constant(g, IG_I8, DIMS(7, 5)) : constant(g, IG_I8, DIMS(5, 7)), 1.0f / 128, 0);
            y = build_2(g, IG_MATMUL, ATTRS(.matmul = {.trans_b = turned != 0, .alpha = 1}), x, w);
            if (bias >= 0) y = build_2(g, IG_BINARY, BIN(IG_ADD), y, bias);
        } else {
            y = conv_of(g, image(g), dequantise(g, constant(g, IG_I8, DIMS(4, 6, 3, 3)), 1.0f / 128, 0), bias, 1);
        }
        if (turned) y = act(g, IG_SIGMOID, 0, 0, y);
        done(g, y);
        EXPECT(g, IG_QLINEAR_CONV, 1, IG_CONV, 0, IG_FC, 0, IG_MATMUL, 0, IG_BINARY, 0, IG_DEQUANTIZE, 0, IG_QUANTIZE, 1);
        ig_graph_free(g);
    }
}

/* Layers of volumes stay floats, for which there are kernels: a stack of matrices, what is flattened, a convolution; the same with a depth of 1; and quantised. */
static void volumes(void **state) {
    char err[512];
    (void)state;
    for (int how = 0; how < 12; how++) {
        struct ig_graph *g = ig_graph_new("g");
        const int depth = how % 6 < 3 ? 2 : 1, is_flat = depth == 1, has_end = how >= 6, is_stack = how % 3 == 0, is_conv = how % 3 == 2;
        const int32_t image[5] = {1, 5, depth, 4, 3}, stack[5] = {1, depth, 2, 3, 5};
        int32_t y, x = quantised(g, build_input(g, "x", 5, is_stack ? stack : image), 1.0f / 64, IG_U8, 128);
        if (is_conv) {
            struct ig_conv a = {.w = build_window(3, 1, 1), .groups = 1};
            a.w.in_d = a.w.out_d = depth;
            int32_t in[2] = {x, dequantise(g, constant(g, IG_I8, DIMS(4, 5, 1, 3, 3)), 1.0f / 128, 0)};
            y = build_node(g, IG_CONV, ATTRS(.conv = a), 2, in, NULL);
        } else {
            const int32_t k = is_stack ? 5 : 60 * depth;
            if (!is_stack) x = quantised(g, build_reshape(g, x, DIMS(1, k)), 1.0f / 64, IG_U8, 128);
            y = build_2(g, IG_MATMUL, ATTRS(.matmul = {.alpha = 1}), x, dequantise(g, constant(g, IG_I8, DIMS(k, 7)), 1.0f / 128, 0));
        }
        if (has_end) y = quantise_by(g, y, build_scalar(g, 0.125f), zero_of(g, IG_U8, 100));
        build_output(g, y, "y");
        if (is_conv) assert_int_equal(ig_run_passes(g, ig_ref_eval, err, sizeof err), 0); /* nchw.h computes images alone */
        else settle(g, 0);
        EXPECT(g, IG_QLINEAR_CONV, is_flat, IG_DEQUANTIZE, !is_flat, IG_QUANTIZE, 1 + (has_end && !is_flat));
        ig_graph_free(g);
    }
}

/* What a batch normalisation does behind a convolution, which a tool that quantises a network in training leaves there. */
static void factors_behind_a_convolution(void **state) {
    (void)state;
    for (int how = 0; how < 8; how++) { /* with a bias; quantised or not; a factor that is negative */
        struct ig_graph *g = ig_graph_new("g");
        int32_t factor = build_const(g, DIMS(1, 4, 1, 1)), summand = build_const(g, DIMS(1, 4, 1, 1));
        for (int c = 0; c < 4; c++) {
            ((float *)(uintptr_t)g->values[factor].data)[c] = how & 4 && c == 2 ? -2 : 1.0f / (1 << c);
            ((float *)(uintptr_t)g->values[summand].data)[c] = 0.25f * (float)(c - 2);
        }
        int32_t bias = how & 1 ? build_const(g, DIMS(4)) : -1;
        for (int c = 0; how & 1 && c < 4; c++) ((float *)(uintptr_t)g->values[bias].data)[c] = 0.5f * (float)c;
        int32_t y = conv_of(g, image(g), dequantise_each(g, constant(g, IG_I8, DIMS(4, 6, 3, 3)), 0, 4), bias, 1);
        y = build_2(g, IG_BINARY, BIN(IG_ADD), build_2(g, IG_BINARY, BIN(IG_MUL), y, factor), summand);
        y = act(g, IG_RELU, 0, 0, y);
        done(g, how & 2 ? quantised(g, y, 1.0f / 8, IG_U8, 0) : y);
        const struct ig_node *n = only(g, IG_QLINEAR_CONV);
        if (how < 4) EXPECT(g, IG_BINARY, 0, IG_CONV, 0, IG_UNARY, !(how & 2), IG_DEQUANTIZE, how & 2 ? 1 : 0);
        if (how < 4) assert_int_equal(g->values[n->out[0]].shape.type == IG_F32, !(how & 2));
        ig_graph_free(g);
    }
}

/* A depthwise convolution whose channels have scales of their own, as NNCF has them, behind a convolution that makes such bytes. */
static void scales_by_channel(void **state) {
    (void)state;
    for (int how = 0; how < 5; how++) { /* at once; behind a bound, one that scales do not keep, a curve; zero points by channel */
        struct ig_graph *g = ig_graph_new("g");
        int32_t x = conv_of(g, image(g), dequantise(g, constant(g, IG_I8, DIMS(4, 6, 3, 3)), 1.0f / 128, 0), -1, 1);
        if (how == 1) x = act(g, IG_RELU, 0, 0, x);
        if (how == 2) x = act(g, IG_CLIP, 0, 0.75f, x);
        if (how == 3) x = act(g, IG_LEAKY_RELU, 0.25f, 0, x);
        int32_t zero = how == 4 ? constant(g, IG_I8, DIMS(4)) : constant_of(g, IG_I8, 4, 3);
        x = quantise_each(g, x, 4, zero);
        x = build_node(g, IG_DEQUANTIZE, ATTRS(.axis = {.axis = 1}), 3, (int32_t[]){x, powers(g, 4, -3), zero}, NULL);
        x = conv_of(g, x, dequantise_each(g, constant(g, IG_I8, DIMS(4, 1, 3, 3)), 0, 4), -1, 4);
        done(g, quantised(g, x, 1.0f / 2, IG_U8, 100));
        EXPECT(g, IG_QLINEAR_CONV, how == 4 ? 1 : 2, IG_CONV, how == 4, IG_QUANTIZE, how < 2 ? 1 : how == 4 ? 3 : 2);
        EXPECT(g, IG_BINARY, how == 2 || how == 3);
        for (int i = 0; i < g->n_nodes; i++)
            if (g->nodes[i].op == IG_QUANTIZE && how < 4) assert_int_equal(ig_count(&g->values[g->nodes[i].in[1]].shape), 1);
        ig_graph_free(g);
    }
}

/* What is left becomes floats when it is folded, however large. */
static void weights_that_stay_are_folded(void **state) {
    struct ig_graph *g = ig_graph_new("g");
    (void)state;
    int32_t w = dequantise(g, constant(g, IG_I8, DIMS(512, 800, 1, 1)), 1.0f / 128, 0), in[3] = {build_input(g, "x", DIMS(1, 800, 1, 1)), w, -1};
    build_output(g, build_node(g, IG_CONV, ATTRS(.conv = {.w = build_window(1, 1, 0), .groups = 1}), 3, in, NULL), "y");
    settle(g, 1e-5);
    EXPECT(g, IG_CONV, 1, IG_DEQUANTIZE, 0);
    ig_graph_free(g);
}

/* --- what only moves --- */

static int32_t moved(struct ig_graph *g, int how, int32_t x) {
    const struct ig_shape half = {IG_F32, 4, {1, 3, 5, 4, 1, 1, 1, 1}}, twice = {IG_F32, 4, {1, 6, 10, 8, 1, 1, 1, 1}};
    switch (how) {
    case 0: return max_pool(g, x);
    case 1: return build_reshape(g, x, DIMS(2, 15, 4));
    case 2: return build_1(g, IG_TRANSPOSE, ATTRS(.transpose = {.perm = {0, 3, 1, 2}}), x);
    case 3: return build_node(g, IG_SLICE, ATTRS(.slice = {.start = {0, 1}, .step = {1, 2, 1, 1}}), 1, &x, &half);
    case 4:
        return build_node(g, IG_RESIZE, ATTRS(.resize = {.mode = IG_NEAREST, .coord = IG_ASYMMETRIC, .nearest = IG_NEAREST_FLOOR, .scale = {1, 1, 2, 2}}),
                          1, &x, &twice);
    case 5: return build_1(g, IG_PAD, ATTRS(.pad = {.begin = {0, 0, 1, 0}, .end = {0, 0, 0, 2}}), x);
    case 6: return act(g, IG_NONE, 0, 0, x);
    default: return build_2(g, IG_CONCAT, ATTRS(.axis = {.axis = 1}), x, max_pool(g, x));
    }
}

enum { MOVES = 8 };

static void moves(void **state) {
    (void)state;
    for (int how = 0; how < MOVES; how++) { /* by the same scale; by another; two of them; by another zero */
        for (int other = 0; other < 4; other++) {
            struct ig_graph *g = ig_graph_new("g");
            int32_t y = moved(g, how, image(g));
            if (other == 2 && g->values[y].shape.rank == 4) y = max_pool(g, y);
            y = quantised(g, y, other == 1 ? 1.0f / 32 : 1.0f / 64, IG_U8, other == 3 ? 100 : 128);
            done(g, y);
            if (build_count(g, IG_QUANTIZE) != 1 || build_count(g, IG_DEQUANTIZE) != 1 || build_count(g, IG_LOOKUP) != (other & 1))
                fail_msg("move %d, %d: %d QUANTIZE, %d DEQUANTIZE", how, other, build_count(g, IG_QUANTIZE), build_count(g, IG_DEQUANTIZE));
            ig_graph_free(g);
        }
    }
}

/* The largest of bytes is not that of the padding, of whatever sign they are. */
static void pools_of_bytes(void **state) {
    (void)state;
    for (int type = IG_U8; type <= IG_I8; type++) {
        struct ig_graph *g = ig_graph_new("g");
        int32_t x = build_input(g, "x", DIMS(1, 6, 5, 4)); /* below 2: all bytes are below what 3 is */
        x = quantised(g, build_2(g, IG_BINARY, BIN(IG_SUB), x, build_scalar(g, 3)), 1.0f / 25, type, type == IG_U8 ? 255 : 127);
        done(g, quantised(g, max_pool(g, x), 1.0f / 25, type, type == IG_U8 ? 255 : 127));
        EXPECT(g, IG_POOL, 1, IG_QUANTIZE, 1, IG_DEQUANTIZE, 1, IG_LOOKUP, 0);
        ig_graph_free(g);
    }
}

/* Parts of a concatenation that have other scales than it are quantised anew one by one. */
static void parts(void **state) {
    struct ig_graph *g = ig_graph_new("g");
    (void)state;
    int32_t a = image(g), b = quantised(g, build_input(g, "b", DIMS(1, 2, 5, 4)), 1.0f / 32, IG_U8, 100);
    done(g, quantised(g, build_2(g, IG_CONCAT, ATTRS(.axis = {.axis = 1}), a, b), 1.0f / 32, IG_U8, 100));
    EXPECT(g, IG_CONCAT, 1, IG_QUANTIZE, 2, IG_DEQUANTIZE, 1, IG_LOOKUP, 1);
    ig_graph_free(g);
}

/* Floats that somebody wants, means of rows, padding that is no zero, interpolation. */
static void moves_that_stay(void **state) {
    const struct ig_shape twice = {IG_F32, 4, {1, 6, 10, 8, 1, 1, 1, 1}};
    (void)state;
    for (int how = 0; how < 4; how++) {
        struct ig_graph *g = ig_graph_new("g");
        int32_t x = image(g), y;
        if (how == 0) y = max_pool(g, x);
        else if (how == 1) y = build_1(g, IG_REDUCE, ATTRS(.reduce = {.kind = IG_REDUCE_MEAN, .mask = 4}), x);
        else if (how == 2) y = build_1(g, IG_PAD, ATTRS(.pad = {.begin = {0, 0, 1}, .value = 1}), x);
        else y = build_node(g, IG_RESIZE, ATTRS(.resize = {.mode = IG_LINEAR, .coord = IG_HALF_PIXEL, .scale = {1, 1, 2, 2}}), 1, &x, &twice);
        if (how == 0) build_output(g, act(g, IG_SIGMOID, 0, 0, y), "other");
        build_output(g, quantised(g, y, 1.0f / 64, IG_U8, 128), "y");
        settle(g, 1.0 / 63); /* sums in another order */
        EXPECT(g, IG_QUANTIZE, 2, IG_DEQUANTIZE, 2);
        ig_graph_free(g);
    }
}

/* A maximum's indices are wanted, too; a sum of squares. */
static void pools_that_stay(void **state) {
    char err[512];
    (void)state;
    for (int kind = IG_POOL_MAX; kind <= IG_POOL_LP; kind += IG_POOL_LP) {
        struct ig_graph *g = ig_graph_new("g");
        int32_t x = image(g), y;
        const struct ig_shape s = g->values[x].shape, longs = {IG_I64, 4, {1, 6, 5, 4, 1, 1, 1, 1}};
        int32_t index = ig_add_value(g, "index", &longs);
        y = ig_add_value(g, "v", &s);
        struct ig_node *n = ig_add_node(g, NULL, IG_POOL, 1, kind == IG_POOL_MAX ? 2 : 1);
        n->attrs.pool = (struct ig_pool){.w = build_window(3, 1, 1), .kind = kind, .p = 2};
        n->in[0] = x, n->out[0] = y;
        if (kind == IG_POOL_MAX) n->out[1] = index, ig_add_output(g, index);
        g->values[y].producer = g->n_nodes - 1;
        build_output(g, quantised(g, y, 1.0f / 64, IG_U8, 128), "y");
        if (ig_run_passes(g, ig_ref_eval, err, sizeof err)) fail_msg("%s", err);
        EXPECT(g, IG_POOL, 1, IG_QUANTIZE, 2, IG_DEQUANTIZE, 2);
        ig_graph_free(g);
    }
}

/* A result of the network, of bytes: by its name, whatever became of what made it. */
static void results_of_bytes(void **state) {
    struct ig_graph *g = ig_graph_new("g");
    (void)state;
    const struct ig_shape bytes = {IG_U8, 4, {1, 6, 5, 4, 1, 1, 1, 1}};
    int32_t in = ig_add_value(g, "b", &bytes);
    ig_add_input(g, in);
    build_output(g, quantise(g, dequantise(g, in, 0.5f, 3), 0.5f, IG_U8, 3), "same");
    done(g, quantise(g, max_pool(g, dequantise(g, in, 0.5f, 3)), 0.5f, IG_U8, 3));
    EXPECT(g, IG_COPY, 1, IG_POOL, 1, IG_QUANTIZE, 0, IG_DEQUANTIZE, 0);
    ig_graph_free(g);
}

/* --- random networks --- */

enum { NETWORKS = 400, TENSORS = 12 };

/* By a scale for each channel. */
static int32_t quantised_by_channel(struct ig_graph *g, struct rng *r, int32_t x) {
    int32_t zero = constant_of(g, RNG_OF(r, IG_U8, IG_I8), 6, rng_int(r, 0, 127)), in[3] = {quantise_each(g, x, 6, zero), powers(g, 6, -3), zero};
    return build_node(g, IG_DEQUANTIZE, ATTRS(.axis = {.axis = 1}), 3, in, NULL);
}

static int32_t random_quantised(struct ig_graph *g, struct rng *r, int32_t x) {
    if (g->values[x].shape.rank == 4 && g->values[x].shape.dims[1] == 6 && rng_one_in(r, 4)) return quantised_by_channel(g, r, x);
    int32_t type = RNG_OF(r, IG_U8, IG_U8, IG_I8), zero = rng_one_in(r, 3) ? 0 : rng_int(r, 0, 127);
    return quantised(g, x, RNG_OF(r, 1.0f / 64, 1.0f / 64, 1.0f / 32, 1.0f / 8), type, zero);
}

static int32_t random_conv(struct ig_graph *g, struct rng *r, int32_t x) {
    int32_t groups = RNG_OF(r, 1, 1, 2, 6), w = constant(g, RNG_OF(r, IG_U8, IG_I8), DIMS(6, 6 / groups, 3, 3)), bias = -1;
    if (rng_one_in(r, 2)) bias = dequantise(g, constant(g, IG_I32, DIMS(6)), 1.0f / 1024, 0);
    w = rng_one_in(r, 2) ? dequantise_each(g, w, 0, 6) : dequantise(g, w, 1.0f / 128, rng_int(r, 0, 99));
    return conv_of(g, x, w, bias, groups);
}

/* [1,6,5,4] becomes the same in two moves. */
static int32_t random_move(struct ig_graph *g, struct rng *r, int32_t x) {
    const struct ig_shape same = g->values[x].shape;
    switch (rng_int(r, 0, 3)) {
    case 0: return max_pool(g, x);
    case 1: return build_reshape(g, build_reshape(g, x, DIMS(6, 20)), DIMS(1, 6, 5, 4));
    case 2:
        x = build_1(g, IG_TRANSPOSE, ATTRS(.transpose = {.perm = {0, 2, 3, 1}}), x);
        if (rng_one_in(r, 2)) x = random_quantised(g, r, x);
        return build_1(g, IG_TRANSPOSE, ATTRS(.transpose = {.perm = {0, 3, 1, 2}}), x);
    default:
        x = build_1(g, IG_PAD, ATTRS(.pad = {.begin = {0, 1, 0, 2}}), x);
        if (rng_one_in(r, 2)) x = random_quantised(g, r, x);
        return build_node(g, IG_SLICE, ATTRS(.slice = {.start = {0, 0, 0, 1}, .step = {1, 1, 1, 1}}), 1, &x, &same);
    }
}

static int32_t random_concat(struct ig_graph *g, struct rng *r, int32_t a, int32_t b) {
    const struct ig_shape same = g->values[a].shape;
    int32_t x = build_2(g, IG_CONCAT, ATTRS(.axis = {.axis = 1}), a, b);
    if (rng_one_in(r, 2)) x = random_quantised(g, r, x);
    return build_node(g, IG_SLICE, ATTRS(.slice = {.start = {0, rng_int(r, 0, 1)}, .step = {1, 2, 1, 1}}), 1, &x, &same);
}

/* By a number for each channel, constant or its average. */
static int32_t random_channels(struct ig_graph *g, struct rng *r, int32_t a, int32_t b) {
    int32_t each = powers(g, 6, 0), how = rng_int(r, 0, 3), kind = RNG_OF(r, IG_ADD, IG_MUL);
    if (how == 0) each = random_quantised(g, r, build_1(g, IG_GLOBAL_POOL, ATTRS(.global_pool = {.kind = IG_POOL_AVERAGE}), b));
    else each = build_reshape(g, each, DIMS(6, 1, 1));
    if (how == 1) a = build_2(g, IG_BINARY, BIN(IG_MUL), a, each);
    return rng_one_in(r, 2) ? build_2(g, IG_BINARY, BIN(kind), a, each) : build_2(g, IG_BINARY, BIN(kind), each, a);
}

/* Perhaps times and plus a number for each channel, as a batch normalisation is. */
static int32_t random_factors(struct ig_graph *g, struct rng *r, int32_t x) {
    if (rng_one_in(r, 3)) x = build_2(g, IG_BINARY, BIN(IG_MUL), x, build_reshape(g, powers(g, 6, 0), DIMS(6, 1, 1)));
    if (rng_one_in(r, 3)) x = build_2(g, IG_BINARY, BIN(IG_ADD), x, build_reshape(g, powers(g, 6, -1), DIMS(6, 1, 1)));
    return x;
}

/* What is not rounded to bytes is moved, cut, or a convolution's few bits: floats stay exact, here. */
static int32_t random_layer(struct ig_graph *g, struct rng *r, int32_t a, int32_t b) {
    int kind = rng_int(r, 0, 8);
    int32_t y;
    if (kind == 0) return random_move(g, r, a);
    if (kind == 1) return random_concat(g, r, a, b);
    if (kind == 2) return act(g, IG_RELU, 0, 0, a);
    if (kind == 3) y = build_2(g, IG_BINARY, BIN(RNG_OF(r, IG_ADD, IG_ADD, IG_MUL, IG_SUB)), a, b);
    else if (kind == 4) y = act(g, RNG_OF(r, IG_ABS, IG_NEG, IG_SIGMOID, IG_TANH, IG_HARD_SWISH), 0, 0, a);
    else if (kind == 5) y = build_1(g, IG_POOL, ATTRS(.pool = {.w = build_window(3, 1, 1), .kind = IG_POOL_AVERAGE, .count_include_pad = rng_int(r, 0, 1)}), a);
    else if (kind == 6) y = random_channels(g, r, a, b);
    else y = random_factors(g, r, random_conv(g, r, a));
    if (kind > 6 && rng_one_in(r, 5)) return y;
    if (rng_one_in(r, 3)) y = rng_one_in(r, 2) ? act(g, IG_RELU, 0, 0, y) : act(g, IG_CLIP, 0, 1.5f, y);
    return random_quantised(g, r, y);
}

static void random_networks(void **state) {
    (void)state;
    for (int seed = 0; seed < NETWORKS; seed++) {
        struct ig_graph *g = ig_graph_new("g");
        struct rng r = {(uint64_t)seed + 1};
        int32_t x[TENSORS] = {image(g)}, n = 1;
        for (int layers = rng_int(&r, 1, TENSORS - 1); n <= layers; n++) {
            int32_t a = x[rng_one_in(&r, 3) ? rng_int(&r, 0, n - 1) : n - 1];
            x[n] = random_layer(g, &r, a, x[rng_int(&r, 0, n - 1)]);
        }
        build_output(g, rng_one_in(&r, 3) ? quantise(g, x[n - 1], 1.0f / 32, IG_U8, 9) : x[n - 1], "y");
        if (n > 2 && rng_one_in(&r, 3)) build_output(g, act(g, IG_NEG, 0, 0, x[n / 2]), "other");
        if (!settles(g, 0)) fail_msg("network %d", seed);
        ig_graph_free(g);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(convolutions),
        cmocka_unit_test(activations),
        cmocka_unit_test(a_bias_of_floats_is_rounded),
        cmocka_unit_test(weights_are_quantised),
        cmocka_unit_test(shared_tensors),
        cmocka_unit_test(padding_before),
        cmocka_unit_test(obstacles),
        cmocka_unit_test(layers_without_an_end),
        cmocka_unit_test(volumes),
        cmocka_unit_test(scales_by_channel),
        cmocka_unit_test(factors_behind_a_convolution),
        cmocka_unit_test(weights_that_stay_are_folded),






        cmocka_unit_test(moves),
        cmocka_unit_test(pools_of_bytes),
        cmocka_unit_test(parts),
        cmocka_unit_test(moves_that_stay),
        cmocka_unit_test(pools_that_stay),
        cmocka_unit_test(results_of_bytes),
        cmocka_unit_test(random_networks),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
