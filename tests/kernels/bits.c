/* Kernels of two ISAs that sum in the same order: the same bits. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "kernels_cpu/problem.h"
#include "kernels_cpu/registry.h"
#include "tests/support/node.h"
#include "tests/support/rng.h"

static void *room(size_t bytes)
{
    void *p = aligned_alloc(64, (bytes + 127) / 64 * 64);
    assert_non_null(p);
    memset(p, 0, (bytes + 127) / 64 * 64);
    return p;
}

static float *random_floats(struct rng *r, const struct ig_shape *s)
{
    int64_t n = ig_bytes(s) / (int64_t)sizeof(float);
    float *p = room((size_t)n * sizeof *p);
    for (int64_t i = 0; i < n; i++) p[i] = (float)rng_int(r, -100000, 100000) * 1e-5f;
    return p;
}

/* The output of the kernel of that name; NULL where it does not compute this call. Caller frees. */
static float *output_of(const char *name, const struct ig_call *call, const float *x, const float *residual)
{
    const struct ig_kernel *k = ig_kernel_by_name(name);
    struct ig_call c = *call;
    assert_non_null(k);
    if (!k->supports(call)) return NULL;
    void *weights = room(k->pack(call, NULL)), *zeros = room((size_t)ig_zeros_bytes(call));
    void *scratch = room(k->scratch ? k->scratch(call) : 64);
    float *y = room((size_t)ig_bytes(call->out[0].shape));
    k->pack(call, weights);
    c.weights = weights;
    c.zeros = zeros;
    c.in[0].data = (void *)x;
    if (residual) c.in[3].data = (void *)residual;
    c.out[0].data = y;
    k->run(&c, ig_full_range(&c), scratch);
    free(weights);
    free(zeros);
    free(scratch);
    return y;
}

/* One call by both; 1 if both compute it. */
static int same(struct rng *r, const char *one, const char *other, enum ig_op op, const union ig_attrs *attrs, const struct ig_shape *in,
                const struct ig_shape *out)
{
    const struct ig_shape *ins[4] = {&in[0], &in[1], &in[2], out}, *outs[1] = {out};
    int n_in = rng_one_in(r, 3) ? 4 : 3, batch;
    float *data[4];
    struct ig_call call;
    for (int i = 0; i < 4; i++) data[i] = random_floats(r, ins[i]);
    const void *constants[4] = {NULL, data[1], data[2], NULL};
    assert_int_equal(ig_build_call(op, attrs, ins, constants, n_in, outs, 1, &call, &batch), 0);
    float *a = output_of(one, &call, data[0], n_in > 3 ? data[3] : NULL), *b = output_of(other, &call, data[0], n_in > 3 ? data[3] : NULL);
    if (a && b && memcmp(a, b, (size_t)ig_bytes(out))) fail_msg("%s and %s differ", one, other);
    for (int i = 0; i < 4; i++) free(data[i]);
    int both = a && b;
    free(a);
    free(b);
    return both;
}

static int random_conv(struct rng *r, const char *one, const char *other, int k, int stride, int depthwise, int ic)
{
    int h = rng_int(r, k + 8, 40), w = rng_int(r, k + 12, 60);
    int oh = (h - 1) / stride + 1, ow = (w - 1) / stride + 1;
    int oc = depthwise ? ic = rng_int(r, 1, 10) * 8 : rng_int(r, 1, 100);
    union ig_attrs attrs = {0};
    if (!ic) ic = rng_int(r, 1, 70);
    attrs.conv = (struct ig_conv){.w = {1, k, k, 1, stride, stride, 1, 1, 1, 0, k / 2, k / 2, 0, k / 2, k / 2, 1, 1},
                                  .groups = depthwise ? ic : 1, .act = {.kind = rng_one_in(r, 2) ? IG_RELU : IG_NONE}};
    struct ig_shape in[3] = {SHAPE(IG_F32, 1, h, w, ic), SHAPE(IG_F32, oc, depthwise ? 1 : ic, k, k), SHAPE(IG_F32, oc)};
    struct ig_shape out = SHAPE(IG_F32, 1, oh, ow, oc);
    return same(r, one, other, IG_CONV, &attrs, in, &out);
}

static int random_fc(struct rng *r, const char *one, const char *other)
{
    int rows = RNG_OF(r, 1, 1, 7, 25), k = rng_int(r, 1, 300), oc = rng_int(r, 1, 400);
    union ig_attrs attrs = {0};
    struct ig_shape in[3] = {SHAPE(IG_F32, rows, k), SHAPE(IG_F32, oc, k), SHAPE(IG_F32, oc)}, out = SHAPE(IG_F32, rows, oc);
    return same(r, one, other, IG_FC, &attrs, in, &out);
}

static void avx2_and_avx512(void **state)
{
    static const struct pair {
        const char *one, *other;
        int k, stride, depthwise, ic; /* ic 0: any */
    } pairs[] = {
        {"conv_f32_6x16__avx2", "conv_f32_12x32__avx512", 1, 1, 0, 0},
        {"conv_f32_6x16__avx2", "conv_f32_12x32__avx512", 3, 2, 0, 0},
        {"conv_f32_4x24__avx2", "conv_f32_12x32__avx512", 3, 1, 0, 0},
        {"conv_f32_first6x16__avx2", "conv_f32_first12x32__avx512", 5, 2, 0, 3},
        {"conv_f32_first3s1c3__avx2", "conv_f32_first3s1c3__avx512", 3, 1, 0, 3},
        {"conv_f32_first3s2c3__avx2", "conv_f32_first3s2c3__avx512", 3, 2, 0, 3},
        {"conv_f32_first7s2c3__avx2", "conv_f32_first7s2c3__avx512", 7, 2, 0, 3},
        {"conv_f32_first5s1c1__avx2", "conv_f32_first5s1c1__avx512", 5, 1, 0, 1},
        {"conv_f32_winograd2_6x16__avx2", "conv_f32_winograd2_12x32__avx512", 3, 1, 0, 0},
        {"conv_f32_winograd4_6x16__avx2", "conv_f32_winograd4_12x32__avx512", 3, 1, 0, 0},
        {"conv_f32_winograd6_6x16__avx2", "conv_f32_winograd6_12x32__avx512", 3, 1, 0, 0},
        {"conv_f32_winograd4of5_6x16__avx2", "conv_f32_winograd4of5_12x32__avx512", 5, 1, 0, 0},
        {"conv_f32_winograd4s2_6x16__avx2", "conv_f32_winograd4s2_12x32__avx512", 3, 2, 0, 0},
        {"conv_f32_depthwise7x16__avx2", "conv_f32_depthwise7x32__avx512", 3, 1, 1, 0},
        {"conv_f32_depthwise7x16__avx2", "conv_f32_depthwise7x32__avx512", 5, 2, 1, 0},
        {"conv_f32_depthwise7x16__avx2", "conv_f32_depthwise7x32__avx512", 7, 1, 1, 0},
        {"conv_f32_depthwise8__avx2", "conv_f32_depthwise16__avx512", 3, 2, 1, 0},
        {"conv_f32_depthwise8__avx2", "conv_f32_depthwise16__avx512", 9, 1, 1, 0},
    };
    enum { TIMES = 12, LEAST = 3 };
    (void)state;
    if (!ig_isa_runs_here(IG_ISA_AVX512)) skip();
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
        const struct pair *p = &pairs[i];
        struct rng r = {i + 1};
        int n = 0;
        for (int t = 0; t < TIMES; t++) n += random_conv(&r, p->one, p->other, p->k, p->stride, p->depthwise, p->ic);
        if (n < LEAST) fail_msg("%s and %s: only %d of %d calls", p->one, p->other, n, TIMES);
    }
    struct rng r = {99};
    for (int t = 0; t < 2 * TIMES; t++) assert_int_equal(random_fc(&r, "fc_f32_6x16__avx2", "fc_f32_12x32__avx512"), 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(avx2_and_avx512)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
