/* Taps that meet nothing but padding: which go, which stay, and that nothing else changes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "tests/support/improve.h"
#include "tests/support/rng.h"

static int32_t conv(struct ig_graph *g, int32_t x, const struct ig_window *w, int32_t groups) {
    const int32_t *dims = g->values[x].shape.dims, rank = g->values[x].shape.rank, ic = dims[rank - 1] / groups;
    const int32_t shape[3][5] = {{4, ic, w->kw}, {4, ic, w->kh, w->kw}, {4, ic, w->kd, w->kh, w->kw}};
    int32_t in[3] = {x, build_const(g, rank, shape[rank - 3]), build_const(g, DIMS(4))};
    return build_node(g, IG_CONV, ATTRS(.conv = {.w = *w, .groups = groups}), 3, in, NULL);
}

static struct ig_window dilated(int32_t k, int32_t d, int32_t p) {
    struct ig_window w = build_window(k, 1, p);
    w.dh = w.dw = d;
    return w;
}

static void expect_window(const struct ig_graph *g, int32_t kh, int32_t kw, int32_t top, int32_t bottom) {
    const struct ig_window *w = &g->nodes[0].attrs.conv.w;
    assert_int_equal(w->kh, kh);
    assert_int_equal(w->kw, kw);
    assert_int_equal(w->top, top);
    assert_int_equal(w->bottom, bottom);
}

static void taps_beyond_the_image_go(void **state) {
    (void)state;
    static const struct {
        int32_t h, w, k, s, d, p, kh, kw, top, bottom;
    } cases[] = {
        {14, 14, 3, 1, 36, 36, 1, 1, 0, 0}, /* of DeepLab */
        {14, 14, 3, 1, 14, 14, 1, 1, 0, 0},
        {14, 14, 3, 1, 13, 13, 3, 3, 13, 13}, /* the outer ones meet one row */
        {14, 13, 3, 1, 13, 13, 3, 1, 13, 13},
        {1, 1, 3, 1, 1, 1, 1, 1, 0, 0},
        {2, 2, 3, 2, 1, 1, 2, 2, 0, 1},  /* one output: the first tap is in the padding */
        {3, 3, 7, 1, 1, 3, 5, 5, 2, 2},
        {4, 4, 2, 1, 3, 0, 2, 2, 0, 0},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct ig_graph *g = empty();
        struct ig_window w = dilated(cases[i].k, cases[i].d, cases[i].p);
        w.sh = w.sw = cases[i].s;
        build_output(g, conv(g, build_input(g, "x", DIMS(1, cases[i].h, cases[i].w, 4)), &w, 2), "y");
        int some = cases[i].kh < cases[i].k || cases[i].kw < cases[i].k;
        assert_int_equal(improve(g, ig_pass_trim_windows), some);
        expect_window(g, cases[i].kh, cases[i].kw, cases[i].top, cases[i].bottom);
        assert_int_equal(improve(g, ig_pass_trim_windows), 0);
        ig_graph_free(g);
    }
}

/* Weights that are no constants stay as they are, and so do those that another convolution shares. */
static void weights(void **state) {
    (void)state;
    struct ig_graph *g = empty();
    struct ig_window w = dilated(3, 9, 9);
    int32_t x = image(g), in[2] = {x, build_input(g, "w", DIMS(4, 4, 3, 3))};
    build_output(g, build_node(g, IG_CONV, ATTRS(.conv = {.w = w, .groups = 1}), 2, in, NULL), "runtime");
    assert_int_equal(improve(g, ig_pass_trim_windows), 0);
    ig_graph_free(g);
    g = empty();
    x = image(g);
    build_output(g, conv(g, x, &w, 1), "far");
    in[0] = x, in[1] = g->nodes[0].in[1];
    build_output(g, build_node(g, IG_CONV, ATTRS(.conv = {.w = build_window(3, 1, 1), .groups = 1}), 2, in, NULL), "near");
    assert_int_equal(improve(g, ig_pass_trim_windows), 1);
    assert_int_equal(g->nodes[1].attrs.conv.w.kh, 3);
    ig_graph_free(g);
}

/* A constant of `type`, bytes, all of one value or 0, 1, 2, ... from it on. */
static int32_t bytes_of(struct ig_graph *g, int32_t type, int32_t first, int32_t rank, const int32_t *dims) {
    struct ig_shape s = build_shape(type, rank, dims);
    int32_t v = ig_add_const(g, "c", &s, NULL);
    for (int64_t i = 0; i < ig_count(&s); i++) ((uint8_t *)(uintptr_t)g->values[v].data)[i] = (uint8_t)(first + i);
    return v;
}

static void bytes(void **state) {
    (void)state;
    for (int32_t type = IG_U8; type; type = type == IG_U8 ? IG_I8 : 0) {
        struct ig_graph *g = empty();
        struct ig_window w = dilated(3, 7, 7);
        int32_t scale = build_scalar(g, 1.0f / 64), zero = bytes_of(g, IG_U8, 77, 0, NULL), w_zero = bytes_of(g, type, 9, 0, NULL);
        int32_t quantise[3] = {image(g), scale, zero}, x = build_node(g, IG_QUANTIZE, NULL, 3, quantise, NULL);
        int32_t in[8] = {x, scale, zero, bytes_of(g, type, 1, DIMS(3, 4, 3, 3)), scale, w_zero, build_scalar(g, 0.25f), zero};
        int32_t y = build_node(g, IG_QLINEAR_CONV, ATTRS(.conv = {.w = w, .groups = 1}), 8, in, NULL);
        int32_t dequantise[3] = {y, scale, zero};
        build_output(g, build_node(g, IG_DEQUANTIZE, NULL, 3, dequantise, NULL), "y");
        assert_int_equal(improve(g, ig_pass_trim_windows), 1);
        assert_int_equal(g->nodes[1].attrs.conv.w.kw, 1);
        ig_graph_free(g);
    }
}

/* The first tap's dead outputs and the last's, by looking at every output: neither is dead, or padding is too short. */
static int is_trimmed(int32_t in, int32_t out, int32_t k, int32_t s, int32_t d, int32_t before, int32_t after) {
    int first = 0, last = 0;
    for (int32_t o = 0; o < out; o++) {
        int32_t at = o * s - before;
        first += at >= 0 && at < in;
        last += at + (k - 1) * d >= 0 && at + (k - 1) * d < in;
    }
    return k == 1 || ((first || s > 1 || before < d) && (last || s > 1 || after < d));
}

static struct ig_window random_window(struct rng *r, int32_t rank, const int32_t *in) {
    struct ig_window w = build_window(1, 1, 0);
    int32_t *dims[3][5] = {{&w.kw, &w.sw, &w.dw, &w.left, &w.right}, {&w.kh, &w.sh, &w.dh, &w.top, &w.bottom}, {&w.kd, &w.sd, &w.dd, &w.front, &w.back}};
    for (int32_t i = 0; i < rank; i++) {
        int32_t **dim = dims[rank - 1 - i];
        *dim[0] = rng_int(r, 1, 5);
        *dim[1] = rng_int(r, 1, 3);
        *dim[2] = rng_int(r, 1, 7);
        *dim[3] = rng_int(r, 0, 14);
        *dim[4] = rng_int(r, 0, 14);
        int32_t missing = (*dim[0] - 1) * *dim[2] + 1 - in[i] - *dim[3] - *dim[4];
        if (missing > 0) *dim[4] += missing;
    }
    if (rank < 3) return w;
    w.in_d = in[0];
    w.out_d = (w.in_d + w.front + w.back - (w.kd - 1) * w.dd - 1) / w.sd + 1;
    return w;
}

static void at_random(void **state) {
    (void)state;
    struct rng r = {7};
    int gone = 0;
    for (int i = 0; i < 300; i++) {
        struct ig_graph *g = empty();
        int32_t rank = rng_int(&r, 1, 3), shape[5] = {1, 1, 1, 1, 1};
        for (int32_t k = 1; k <= rank; k++) shape[k] = rng_int(&r, 1, 7);
        shape[rank + 1] = 2;
        struct ig_window w = random_window(&r, rank, shape + 1);
        build_output(g, conv(g, build_input(g, "x", rank + 2, shape), &w, rng_int(&r, 1, 2)), "y");
        gone += improve(g, ig_pass_trim_windows);
        const struct ig_window *v = &g->nodes[0].attrs.conv.w;
        const int32_t *in = shape + rank, *out = g->values[g->outputs[0]].shape.dims + rank; /* the width's */
        assert_true(is_trimmed(in[0], out[0], v->kw, v->sw, v->dw, v->left, v->right));
        if (rank > 1) assert_true(is_trimmed(in[-1], out[-1], v->kh, v->sh, v->dh, v->top, v->bottom));
        if (rank > 2) assert_true(is_trimmed(in[-2], out[-2], v->kd, v->sd, v->dd, v->front, v->back));
        assert_int_equal(improve(g, ig_pass_trim_windows), 0);
        ig_graph_free(g);
    }
    assert_in_range(gone, 100, 299);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(taps_beyond_the_image_go),
        cmocka_unit_test(weights),
        cmocka_unit_test(bytes),
        cmocka_unit_test(at_random),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
