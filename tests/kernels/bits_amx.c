/*
 * The convolution by tiles of bfloat16: the bits of the instructions are those of the sums that Intel's manual writes down, which are
 * computed here by others, so that the driver is tested where there are no tiles; and they are as exact as sums of fp32 are.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#if defined(__x86_64__)
#pragma GCC target("avx512f,avx512bw,avx512dq,avx512vl,avx2,fma,f16c")
#include "kernels_cpu/amx/tile.h"
#include "kernels_cpu/pack/pack.h"
#include "kernels_cpu/problem.h"
#include "kernels_cpu/registry.h"
#include "tests/support/guard.h"
#include "tests/support/node.h"
#include "tests/support/rng.h"

enum { TILES = 8, ROWS = 16, WORDS = 16 };

static uint32_t tmm[TILES][ROWS][WORDS];
static int configured, rows_of[TILES], words_of[TILES];

static void configure(const struct ig_tile_config *c)
{
    assert_int_equal(c->palette, 1);
    for (int t = 0; t < TILES; t++) {
        assert_in_range(c->rows[t], 1, ROWS);
        assert_in_range(c->row_bytes[t], 4, 4 * WORDS);
        rows_of[t] = c->rows[t];
        words_of[t] = c->row_bytes[t] / 4;
    }
    memset(tmm, 0, sizeof tmm);
    configured = 1;
}

static void load(int t, const void *p, int64_t step)
{
    assert_true(configured);
    for (int i = 0; i < rows_of[t]; i++) memcpy(tmm[t][i], (const char *)p + i * step, (size_t)words_of[t] * 4);
}

static void store(int t, void *p, int64_t step)
{
    assert_true(configured);
    for (int i = 0; i < rows_of[t]; i++) memcpy((char *)p + i * step, tmm[t][i], (size_t)words_of[t] * 4);
}

static float number(uint32_t bits)
{
    float f;
    memcpy(&f, &bits, sizeof f);
    return fabsf(f) < 0x1p-126f ? copysignf(0, f) : f; /* subnormals are 0 */
}

/* TDPBF16PS (Software Developer's Manual, volume 2): even and odd k add up apart, then together, then to the sum. */
static void dot(int c, int a, int b)
{
    assert_true(configured && rows_of[c] == rows_of[a] && words_of[a] == rows_of[b] && words_of[b] == words_of[c]);
    for (int m = 0; m < rows_of[c]; m++)
        for (int n = 0; n < words_of[c]; n++) {
            float even = 0, odd = 0;
            for (int k = 0; k < words_of[a]; k++) {
                even = fmaf(number(tmm[a][m][k] << 16), number(tmm[b][k][n] << 16), even);
                odd = fmaf(number(tmm[a][m][k] & 0xffff0000u), number(tmm[b][k][n] & 0xffff0000u), odd);
            }
            float sum = number(tmm[c][m][n]) + (even + odd);
            memcpy(&tmm[c][m][n], &sum, sizeof sum);
        }
}

#undef TILE_CONFIGURE
#undef TILE_RELEASE
#undef TILE_LOAD
#undef TILE_STORE
#undef TILE_DOT
#define TILE_CONFIGURE(config) configure(config)
#define TILE_RELEASE() (void)(configured = 0)
#define TILE_LOAD(t, p, step) load(t, p, step)
#define TILE_STORE(t, p, step) store(t, p, step)
#define TILE_DOT(c, a, b) dot(c, a, b)
#define conv_f32_32x32__amx emulated
#include "kernels_cpu/amx/conv.c"
#undef conv_f32_32x32__amx

enum { IN, WEIGHTS, RESIDUAL, PACKED, ZEROS, SCRATCH, GUARDS };

struct problem {
    struct ig_shape x, w, y;
    struct ig_conv conv;
    float *in, *weights, *residual;
    struct guard guard[GUARDS]; /* memory of each, which ends where nobody may read */
    struct ig_call call;
};

static void *room(struct guard *g, size_t bytes, size_t align)
{
    guard_make(g, bytes, align, 0);
    memset(g->data, 0, bytes);
    return g->data;
}

static float *floats(struct guard *g, struct rng *r, int64_t n)
{
    float *p = room(g, (size_t)n * sizeof *p, sizeof *p);
    for (int64_t i = 0; i < n; i++) p[i] = ldexpf((float)rng_int(r, -(1 << 24), 1 << 24), rng_int(r, -26, -23));
    return p;
}

/* k x k, ic to oc channels of g groups each, h x w inputs. */
static void make(struct problem *p, struct rng *r, int k, int stride, int g, int ic, int oc, int h, int w)
{
    int oh = (h + k / 2 * 2 - k) / stride + 1, ow = (w + k / 2 * 2 - k) / stride + 1, batch;
    p->x = SHAPE(IG_F32, 1, h, w, g * ic);
    p->w = SHAPE(IG_F32, g * oc, ic, k, k);
    p->y = SHAPE(IG_F32, 1, oh, ow, g * oc);
    p->conv = (struct ig_conv){.w = {1, k, k, 1, stride, stride, 1, 1, 1, 0, k / 2, k / 2, 0, k / 2, k / 2, 1, 1}, .groups = g};
    p->conv.act = (struct ig_act){RNG_OF(r, IG_NONE, IG_RELU, IG_CLIP, IG_TANH), -1, 1};
    p->in = floats(&p->guard[IN], r, ig_count(&p->x));
    p->weights = floats(&p->guard[WEIGHTS], r, ig_count(&p->w));
    p->residual = rng_one_in(r, 2) ? floats(&p->guard[RESIDUAL], r, ig_count(&p->y)) : NULL;
    const struct ig_shape *in[] = {&p->x, &p->w, NULL, &p->y}, *out[] = {&p->y};
    const void *data[] = {NULL, p->weights, NULL, NULL};
    assert_int_equal(ig_build_call(IG_CONV, (const union ig_attrs *)&p->conv, in, data, p->residual ? 4 : 2, out, 1, &p->call, &batch), 0);
    p->call.weights = room(&p->guard[PACKED], ig_pack_conv16(&p->call, NULL), 64);
    ig_pack_conv16(&p->call, p->guard[PACKED].data);
    p->call.zeros = room(&p->guard[ZEROS], ig_zeros_bytes(&p->call), 64);
    p->call.in[0].data = p->in;
    if (p->residual) p->call.in[3].data = p->residual;
    guard_make(&p->guard[SCRATCH], ig_scratch_pieces(&p->call), 64, rng_one_in(r, 2));
}

static void discard(struct problem *p)
{
    for (int i = 0; i < GUARDS; i++) guard_free(&p->guard[i]);
}

enum { ALL = 1 << 20 };

/* In pieces of channels, the first of `first`, the others of `columns`, and of rows. Caller frees. */
static float *run(struct problem *p, ig_kernel_fn *kernel, int32_t first, int32_t columns, int32_t lines)
{
    float *y = malloc((size_t)ig_bytes(&p->y));
    assert_non_null(y);
    p->call.out[0].data = y;
    const int32_t h = p->call.out[0].h, oc = p->call.out[0].c;
    for (int32_t y0 = 0; y0 < h; y0 += lines)
        for (int32_t c0 = 0, c1 = first; c0 < oc; c0 = c1, c1 += columns) {
            struct ig_range range = {y0, y0 + lines < h ? y0 + lines : h, c0, c1 < oc ? c1 : oc};
            guard_poison(&p->guard[SCRATCH]);
            kernel(&p->call, range, p->guard[SCRATCH].data);
        }
    return y;
}

static const struct size { int k, stride, g, ic, oc, h, w; } sizes[] = {
    {1, 1, 1, 32, 32, 4, 8},    {1, 1, 1, 64, 96, 7, 9},   {1, 1, 1, 70, 41, 5, 13}, {1, 2, 1, 16, 48, 9, 9},
    {3, 1, 1, 40, 33, 6, 7},    {3, 2, 1, 32, 64, 11, 9},  {3, 1, 3, 24, 20, 8, 8},  {5, 1, 1, 3, 17, 9, 10},
    {1, 1, 1, 1100, 80, 6, 7},  {3, 1, 1, 130, 48, 5, 5},  {1, 1, 2, 1056, 48, 4, 9}, {1, 1, 1, 32, 16, 40, 41},
    {1, 1, 1, 1100, 64, 12, 13}, {1, 1, 1, 2080, 48, 12, 13}, /* more pixels than are at hand at a time, and more steps */
};

static float *reference(struct problem *p, int32_t act)
{
    const void *const weights = p->call.weights;
    const int32_t own = p->conv.act.kind;
    p->call.weights = NULL;
    p->conv.act.kind = act;
    float *y = run(p, ig_kernel_by_name("conv_f32_1x1__ref")->run, ALL, ALL, ALL);
    p->conv.act.kind = own;
    p->call.weights = weights;
    return y;
}

/* Within the error that the kernel states, of the largest sum. */
static void assert_right(struct problem *p, const float *y, size_t size)
{
    double most = 0, largest = 0;
    float *exact = reference(p, p->conv.act.kind), *sums = reference(p, IG_NONE);
    for (int64_t i = 0; i < ig_count(&p->y); i++) {
        most = fmax(most, fabs((double)y[i] - exact[i]));
        largest = fmax(largest, fabs((double)sums[i]));
    }
    if (!(most <= 2e-6 * largest)) fail_msg("size %zu: off by %g, the largest sum is %g", size, most, largest);
    free(exact);
    free(sums);
}

static void any_cut(void **state)
{
    (void)state;
    if (!ig_isa_runs_here(IG_ISA_AVX512)) skip();
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        const struct size *s = &sizes[i];
        struct rng r = {i + 1};
        struct problem p = {0};
        make(&p, &r, s->k, s->stride, s->g, s->ic, s->oc, s->h, s->w);
        float *whole = run(&p, emulated, ALL, ALL, ALL), *small = run(&p, emulated, 16, 16, 3), *odd = run(&p, emulated, 16, ALL, ALL);
        size_t bytes = (size_t)ig_bytes(&p.y);
        assert_right(&p, whole, i);
        if (memcmp(whole, small, bytes) || memcmp(whole, odd, bytes)) fail_msg("size %zu: the bits depend on the cut", i);
        if (ig_isa_runs_here(IG_ISA_AMX)) {
            const struct ig_kernel *k = ig_kernel_by_name("conv_f32_32x32__amx");
            float *real = run(&p, k->run, ALL, ALL, ALL), *part = run(&p, k->run, 48, 48, 2);
            if (memcmp(whole, real, bytes) || memcmp(whole, part, bytes)) fail_msg("size %zu: not the bits of the instructions", i);
            free(real);
            free(part);
        }
        free(whole);
        free(small);
        free(odd);
        discard(&p);
    }
}

/* What is no number stays that, and the sign of zero does not depend on the cut either. */
static void no_number(void **state)
{
    (void)state;
    if (!ig_isa_runs_here(IG_ISA_AVX512)) skip();
    for (int t = 0; t < 6; t++) {
        struct rng r = {(uint64_t)t + 1};
        struct problem p = {0};
        make(&p, &r, 1, 1, 1, 32, 48, 3, 4);
        p.conv.act = (struct ig_act){t % 2 ? IG_CLIP : IG_RELU, 0, 6};
        p.call.in[3].data = NULL;
        for (int c = 0; c < 32; c++) p.in[2 * 32 + c] = p.in[4 * 32 + c] = -0x1p-140f; /* sums of either sign that are cut to zero */
        p.in[5 * 32 + 7] = t / 2 % 3 == 0 ? NAN : t / 2 % 3 == 1 ? INFINITY : -INFINITY;
        float *whole = run(&p, emulated, ALL, ALL, ALL), *odd = run(&p, emulated, 16, ALL, ALL), *small = run(&p, emulated, 16, 16, 1);
        for (int c = 0; c < 48; c++) assert_true(isnan(whole[5 * 48 + c]) && isnan(odd[5 * 48 + c]) && isnan(small[5 * 48 + c]));
        for (int i = 0; i < 12 * 48; i++)
            if (i / 48 != 5 && (memcmp(&whole[i], &odd[i], 4) || memcmp(&whole[i], &small[i], 4))) fail_msg("pixel %d, channel %d", i / 48, i % 48);
        free(whole);
        free(odd);
        free(small);
        discard(&p);
    }
}

/* The largest error of an output as a share of the sum of its products' sizes. */
static double off(const struct problem *p, const float *y)
{
    double most = 0;
    const int32_t ic = p->call.in[0].c, oc = p->call.out[0].c, pixels = p->call.out[0].h * p->call.out[0].w;
    for (int32_t i = 0; i < pixels; i++)
        for (int32_t c = 0; c < oc; c++) {
            double sum = 0, size = 0;
            for (int32_t k = 0; k < ic; k++) {
                double one = (double)p->in[i * ic + k] * p->weights[c * ic + k];
                sum += one;
                size += fabs(one);
            }
            most = fmax(most, fabs(y[i * oc + c] - sum) / size);
        }
    return most;
}

static void as_exact_as_fp32(void **state)
{
    (void)state;
    if (!ig_isa_runs_here(IG_ISA_AVX512)) skip();
    static const int depths[] = {8, 32, 64, 256, 1024, 4096};
    for (size_t i = 0; i < sizeof depths / sizeof *depths; i++) {
        struct rng r = {i + 1};
        struct problem p = {0};
        make(&p, &r, 1, 1, 1, depths[i], 48, 6, 8);
        p.conv.act.kind = IG_NONE;
        p.call.in[3].data = NULL;
        float *pieces = run(&p, emulated, ALL, ALL, ALL);
        double by_pieces = off(&p, pieces);
        free(pieces);
        size_t bytes = ig_kernel_by_name("conv_f32_12x32__avx512")->scratch(&p.call);
        guard_free(&p.guard[SCRATCH]);
        guard_make(&p.guard[SCRATCH], bytes, 64, 0);
        float *chain = run(&p, ig_kernel_by_name("conv_f32_12x32__avx512")->run, ALL, ALL, ALL);
        double by_chain = off(&p, chain);
        free(chain);
        print_message("%d products: off by %.2g of their sizes' sum, multiply-adds in a row by %.2g\n", depths[i], by_pieces, by_chain);
        if (by_pieces > 1.2e-7 * 4 || (depths[i] >= 64 && by_pieces > by_chain)) fail_msg("%d products: %g, in a row %g", depths[i], by_pieces, by_chain);
        discard(&p);
    }
}

static void three_pieces_are_a_float(void **state)
{
    (void)state;
    if (!ig_isa_runs_here(IG_ISA_AVX512)) skip();
    struct rng r = {5};
    for (int t = 0; t < 1000; t++) {
        float v[32] __attribute__((aligned(64)));
        uint32_t to[IG_PIECES][16] __attribute__((aligned(64)));
        for (int i = 0; i < 32; i++) v[i] = ldexpf((float)rng_int(&r, -(1 << 24), 1 << 24), rng_int(&r, -120, 100));
        cut(_mm512_load_ps(v), _mm512_load_ps(v + 16), (char *)to, 64);
        for (int i = 0; i < 16; i++) {
            assert_true(number(to[0][i] << 16) + (number(to[1][i] << 16) + number(to[2][i] << 16)) == v[i]);
            assert_true(number(to[0][i] & 0xffff0000u) + (number(to[1][i] & 0xffff0000u) + number(to[2][i] & 0xffff0000u)) == v[16 + i]);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(three_pieces_are_a_float), cmocka_unit_test(any_cut), cmocka_unit_test(no_number),
                                       cmocka_unit_test(as_exact_as_fp32)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
#else
static void no_such_processor(void **state)
{
    (void)state;
    skip();
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(no_such_processor)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
#endif
