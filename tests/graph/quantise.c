/* Quantising a float network: which tensors become bytes, that nothing but integers is left of them, and how near the results are. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "tests/support/quantised.h"

/* --- ranges --- */

static void extend(struct ig_quantised_tensor *t, const float *x, int64_t n) {
    for (int64_t i = 0; i < n; i++) {
        if (x[i] < t->low) t->low = x[i];
        if (x[i] > t->high) t->high = x[i];
    }
}

/* As the float network has them on interp_agree's input. */
static void measure(const struct ig_graph *g, struct ig_quantised_tensor *t, int32_t n) {
    struct ig_graph *all = ig_graph_clone(g);
    const struct ig_shape *s = &g->values[g->inputs[0]].shape;
    void *in[1] = {malloc((size_t)ig_bytes(s))}, **out = calloc((size_t)(g->n_outputs + n), sizeof *out);
    interp_fill(s, 1, in[0]);
    for (int32_t i = 0; i < n; i++) ig_add_output(all, t[i].value);
    assert_int_equal(interp_run(all, eval_nchw, in, out), 0);
    for (int32_t i = 0; i < n; i++) extend(&t[i], out[g->n_outputs + i], ig_count(&g->values[t[i].value].shape));
    for (int32_t i = 0; i < g->n_outputs + n; i++) free(out[i]);
    free(in[0]);
    free(out);
    ig_graph_free(all);
}

/* Root of the mean square of what the first results of both, on that input, differ by, over that of a's. */
static double noise(const struct ig_graph *a, const struct ig_graph *b) {
    const struct ig_shape *s = &a->values[a->inputs[0]].shape;
    void *in[1] = {malloc((size_t)ig_bytes(s))}, *x[1], *y[1];
    double difference = 0, all = 0;
    interp_fill(s, 1, in[0]);
    assert_int_equal(interp_run(a, eval_nchw, in, x) + interp_run(b, ig_ref_eval, in, y), 0);
    for (int64_t i = 0; i < ig_count(&a->values[a->outputs[0]].shape); i++) {
        double u = ((const float *)x[0])[i], v = ((const float *)y[0])[i];
        difference += (u - v) * (u - v);
        all += u * u;
    }
    free(in[0]), free(x[0]), free(y[0]);
    return all > 0 ? sqrt(difference / all) : sqrt(difference);
}

/* g in 8 bits, all passes run: its result is as near the float network's. Returns how many tensors became bytes. */
static int32_t quantise_all(struct ig_graph *g, double most) {
    char err[512];
    struct ig_quantised_tensor *t;
    struct ig_graph *before = ig_graph_clone(g);
    int32_t n = ig_quantise_find(g, ig_ref_eval, &t);
    measure(g, t, n);
    ig_quantise_put(g, t, n);
    if (ig_graph_check(g, err, sizeof err)) fail_msg("%s", err);
    if (ig_run_passes(g, ig_ref_eval, err, sizeof err)) fail_msg("%s", err);
    double found = noise(before, g);
    if (!(found <= most)) fail_msg("noise of %g, not %g", found, most);
    ig_graph_free(before);
    return n;
}

/* --- networks --- */

static int32_t input(struct ig_graph *g) {
    return build_input(g, "x", DIMS(1, 6, 5, 4));
}

static int32_t float_conv(struct ig_graph *g, int32_t x, int32_t oc) {
    return conv_of(g, x, build_const(g, DIMS(oc, g->values[x].shape.dims[1], 3, 3)), build_const(g, DIMS(oc)), 1);
}

static int32_t channels(struct ig_graph *g, int32_t kind, int32_t x) {
    return build_2(g, IG_BINARY, BIN(kind), x, build_const(g, DIMS(g->values[x].shape.dims[1], 1, 1)));
}

static int32_t global(struct ig_graph *g, int32_t x) {
    return build_1(g, IG_GLOBAL_POOL, ATTRS(.global_pool = {.kind = IG_POOL_AVERAGE}), x);
}

/* The input's bytes, and nothing of floats but what makes them and what makes the output. */
static void expect_integers(const struct ig_graph *g) {
    EXPECT(g, IG_CONV, 0, IG_FC, 0, IG_MATMUL, 0, IG_BINARY, 0, IG_UNARY, 0, IG_GLOBAL_POOL, 0, IG_QUANTIZE, 1, IG_DEQUANTIZE, 1);
}

/* Batch normalisation goes into weights, the activation into the convolution. */
static void layers(void **state) {
    (void)state;
    for (int how = 0; how < 6; how++) {
        struct ig_graph *g = ig_graph_new("g");
        int32_t y = float_conv(g, input(g), 8);
        if (how & 1) y = channels(g, IG_ADD, channels(g, IG_MUL, y));
        if (how >= 2) y = act(g, how >= 4 ? IG_CLIP : IG_RELU, 0, 6, y);
        build_output(g, y, "y");
        assert_int_equal(quantise_all(g, 0.01), 2);
        expect_integers(g);
        EXPECT(g, IG_QLINEAR_CONV, 1, IG_QLINEAR_AFFINE, 0);
        ig_graph_free(g);
    }
}

/* Convolutions of fewer groups, products with their biases behind what is flattened. */
static void a_classifier(void **state) {
    struct ig_graph *g = ig_graph_new("g");
    (void)state;
    int32_t y = act(g, IG_RELU, 0, 0, conv_of(g, input(g), build_const(g, DIMS(6, 1, 3, 3)), -1, 6));
    y = build_reshape(g, max_pool(g, float_conv(g, y, 8)), DIMS(1, 160));
    y = build_2(g, IG_BINARY, BIN(IG_ADD), build_2(g, IG_MATMUL, ATTRS(.matmul = {.alpha = 1}), y, build_const(g, DIMS(160, 7))), build_const(g, DIMS(7)));
    build_output(g, y, "y");
    assert_int_equal(quantise_all(g, 0.02), 4);
    expect_integers(g);
    EXPECT(g, IG_QLINEAR_CONV, 3);
    ig_graph_free(g);
}

/* A channel of no weights, or of next to none, has a bias; so has a column of a product. */
static void idle_channels(void **state) {
    (void)state;
    for (int how = 0; how < 4; how++) {
        struct ig_graph *g = ig_graph_new("g");
        int32_t y = float_conv(g, input(g), 8), w = g->nodes[g->values[y].producer].in[1];
        for (int k = 0; k < 54; k++) ((float *)(uintptr_t)g->values[w].data)[2 * 54 + k] *= how & 1 ? 1e-6f : 0;
        if (how & 2) {
            y = build_reshape(g, act(g, IG_RELU, 0, 0, y), DIMS(1, 160));
            w = build_const(g, DIMS(160, 7));
            for (int k = 0; k < 160; k++) ((float *)(uintptr_t)g->values[w].data)[k * 7 + 3] *= how & 1 ? 1e-6f : 0;
            y = build_2(g, IG_BINARY, BIN(IG_ADD), build_2(g, IG_MATMUL, ATTRS(.matmul = {.alpha = 1}), y, w), build_const(g, DIMS(7)));
        }
        build_output(g, y, "y");
        quantise_all(g, 0.02);
        expect_integers(g);
        EXPECT(g, IG_QLINEAR_CONV, how & 2 ? 2 : 1);
        ig_graph_free(g);
    }
}

/* x sigmoid(x), tanh(x), clip(x + 3) x / 6: one table each. */
static void functions(void **state) {
    (void)state;
    for (int how = 0; how < 3; how++) {
        struct ig_graph *g = ig_graph_new("g");
        int32_t x = float_conv(g, input(g), 6), y;
        if (how == 0) y = build_2(g, IG_BINARY, BIN(IG_MUL), x, act(g, IG_SIGMOID, 0, 0, x));
        else if (how == 1) y = act(g, IG_TANH, 0, 0, x);
        else {
            y = act(g, IG_CLIP, 0, 6, build_2(g, IG_BINARY, BIN(IG_ADD), x, build_scalar(g, 3)));
            y = build_2(g, IG_BINARY, BIN(IG_DIV), build_2(g, IG_BINARY, BIN(IG_MUL), x, y), build_scalar(g, 6));
        }
        build_output(g, float_conv(g, y, 6), "y");
        assert_int_equal(quantise_all(g, 0.02), 4);
        expect_integers(g);
        EXPECT(g, IG_LOOKUP, 1, IG_QLINEAR_CONV, 2);
        ig_graph_free(g);
    }
}

/* A residual with its activation; squeeze and excite; a normalisation behind a sum. */
static void combinations(void **state) {
    (void)state;
    for (int how = 0; how < 3; how++) {
        struct ig_graph *g = ig_graph_new("g");
        int32_t x = float_conv(g, input(g), 6), z = float_conv(g, x, 6), y;
        if (how == 1) y = build_2(g, IG_BINARY, BIN(IG_MUL), x, act(g, IG_SIGMOID, 0, 0, global(g, x)));
        else y = build_2(g, IG_BINARY, BIN(IG_ADD), x, z);
        if (how == 0) y = act(g, IG_RELU, 0, 0, y);
        if (how == 2) y = act(g, IG_RELU, 0, 0, channels(g, IG_ADD, channels(g, IG_MUL, y)));
        build_output(g, float_conv(g, y, 6), "y");
        quantise_all(g, 0.02);
        expect_integers(g);
        EXPECT(g, IG_QLINEAR_BINARY, 1, IG_QLINEAR_AFFINE, how == 2);
        ig_graph_free(g);
    }
}

/* A convolution whose results are about as large as what it reads, or `times` as large. */
static int32_t calm_conv(struct ig_graph *g, int32_t x, int32_t oc, float times) {
    int32_t w = build_const(g, DIMS(oc, g->values[x].shape.dims[1], 3, 3));
    for (int64_t i = 0; i < ig_count(&g->values[w].shape); i++) ((float *)(uintptr_t)g->values[w].data)[i] *= times / 8;
    return conv_of(g, x, w, -1, 1);
}

/* Parts of a concatenation have its scale: no table brings them there, nor to that of one behind it. Unless one is much smaller. */
static void concatenations(void **state) {
    (void)state;
    for (int far = 0; far < 2; far++) {
        struct ig_graph *g = ig_graph_new("g");
        int32_t a = calm_conv(g, input(g), 4, 1), b = act(g, IG_RELU, 0, 0, calm_conv(g, a, 8, far ? 20 : 1)), y;
        y = build_2(g, IG_CONCAT, ATTRS(.axis = {.axis = 1}), max_pool(g, a), b);
        y = build_2(g, IG_CONCAT, ATTRS(.axis = {.axis = 1}), y, calm_conv(g, y, 4, 1));
        build_output(g, calm_conv(g, y, 3, 1), "y");
        quantise_all(g, 0.02);
        expect_integers(g);
        EXPECT(g, IG_CONCAT, 2, IG_LOOKUP, far, IG_QLINEAR_CONV, 4);
        ig_graph_free(g);
    }
}

/* What has no form on bytes keeps its floats, between bytes on either side; where nothing asks for bytes there are none. */
static void what_stays(void **state) {
    struct ig_graph *g = ig_graph_new("g");
    (void)state;
    int32_t y = build_1(g, IG_SOFTMAX, ATTRS(.axis = {.axis = 1}), float_conv(g, input(g), 6));
    build_output(g, float_conv(g, y, 6), "y");
    quantise_all(g, 0.02);
    EXPECT(g, IG_QUANTIZE, 2, IG_DEQUANTIZE, 2, IG_SOFTMAX, 1, IG_QLINEAR_CONV, 2);
    ig_graph_free(g);
    g = ig_graph_new("g");
    build_output(g, act(g, IG_RELU, 0, 0, channels(g, IG_MUL, input(g))), "y");
    assert_int_equal(quantise_all(g, 0), 0);
    ig_graph_free(g);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(layers),
        cmocka_unit_test(a_classifier),
        cmocka_unit_test(idle_channels),
        cmocka_unit_test(functions),
        cmocka_unit_test(combinations),
        cmocka_unit_test(concatenations),
        cmocka_unit_test(what_stays),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
