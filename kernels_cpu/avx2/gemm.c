/*
 * The micro-kernels of gemm.S by rows and width, and the matrix-vector product of a one-row FC: 64 channels
 * (8 accumulators) at a time, four panels read side by side.
 */
#include "kernels_cpu/avx2/gemm.h"

#include <immintrin.h>

#include "kernels_cpu/avx2/act.h"
#include "kernels_cpu/common/blocks.h"

enum { PANELS = 4 };

ig_gemm_fn ig_gemm16_1x8_avx2, ig_gemm16_2x8_avx2, ig_gemm16_3x8_avx2, ig_gemm16_4x8_avx2, ig_gemm16_5x8_avx2,
    ig_gemm16_6x8_avx2, ig_gemm16_1x16_avx2, ig_gemm16_2x16_avx2, ig_gemm16_3x16_avx2, ig_gemm16_4x16_avx2,
    ig_gemm16_5x16_avx2, ig_gemm16_6x16_avx2;
ig_gemm_fn ig_gemm24_1x8_avx2, ig_gemm24_2x8_avx2, ig_gemm24_3x8_avx2, ig_gemm24_4x8_avx2, ig_gemm24_1x16_avx2,
    ig_gemm24_2x16_avx2, ig_gemm24_3x16_avx2, ig_gemm24_4x16_avx2, ig_gemm24_1x24_avx2, ig_gemm24_2x24_avx2,
    ig_gemm24_3x24_avx2, ig_gemm24_4x24_avx2;

static inline __attribute__((always_inline)) void panels_of(const float *x, int64_t k, const float *panels, const int n, float *c)
{
    int64_t panel = ig_gemm_panel(1, k, 16);
    const float *b[PANELS] = {panels, panels + panel, panels + 2 * panel, panels + 3 * panel};
    __m256 acc[2 * PANELS];
#pragma GCC unroll 8
    for (int i = 0; i < 2 * n; i++) acc[i] = _mm256_loadu_ps(b[i / 2] + i % 2 * 8);
    for (int64_t i = 1; i <= k; i++) {
        __m256 a = _mm256_broadcast_ss(x++);
#pragma GCC unroll 8
        for (int j = 0; j < 2 * n; j++)
            acc[j] = _mm256_fmadd_ps(a, _mm256_loadu_ps(b[j / 2] + i * 16 + j % 2 * 8), acc[j]);
    }
#pragma GCC unroll 8
    for (int i = 0; i < 2 * n; i++) _mm256_storeu_ps(c + i * 8, acc[i]);
}

static void gemv(const float *x, int64_t k, const void *panels, int32_t n, float *c)
{
#define OF(n) case n: panels_of(x, k, (const float *)panels, n, c); break
    switch (n) {
        OF(1); OF(2); OF(3);
    default: panels_of(x, k, (const float *)panels, PANELS, c); break;
    }
#undef OF
}

static ig_gemm_fn *const w8[] = {ig_gemm16_1x8_avx2, ig_gemm16_2x8_avx2, ig_gemm16_3x8_avx2,
                                 ig_gemm16_4x8_avx2, ig_gemm16_5x8_avx2, ig_gemm16_6x8_avx2};
static ig_gemm_fn *const w16[] = {ig_gemm16_1x16_avx2, ig_gemm16_2x16_avx2, ig_gemm16_3x16_avx2,
                                  ig_gemm16_4x16_avx2, ig_gemm16_5x16_avx2, ig_gemm16_6x16_avx2};
static ig_gemm_fn *const w8of24[] = {ig_gemm24_1x8_avx2, ig_gemm24_2x8_avx2, ig_gemm24_3x8_avx2,
                                     ig_gemm24_4x8_avx2};
static ig_gemm_fn *const w16of24[] = {ig_gemm24_1x16_avx2, ig_gemm24_2x16_avx2, ig_gemm24_3x16_avx2,
                                      ig_gemm24_4x16_avx2};
static ig_gemm_fn *const w24[] = {ig_gemm24_1x24_avx2, ig_gemm24_2x24_avx2, ig_gemm24_3x24_avx2,
                                  ig_gemm24_4x24_avx2};

enum {
    STREAM_BYTES = IG_GEMM_STREAM_BYTES_AVX2, BLOCK = IG_GEMM_BLOCK_AVX2, LOOPS = IG_GEMM_LOOPS_AVX2
};

const struct ig_gemm_set ig_gemm_6x16_avx2 = {6, 16, {w8, w16}, ig_act_row_avx2, gemv,
                                              PANELS, STREAM_BYTES, LOOPS, BLOCK, NULL};
const struct ig_gemm_set ig_gemm_4x24_avx2 = {4, 24, {w8of24, w16of24, w24}, ig_act_row_avx2, NULL,
                                              0, STREAM_BYTES, LOOPS, BLOCK, NULL};
const struct ig_gemm_set ig_gemm_small6x16_avx2 = {6, 16, {w8, w16}, ig_act_row_avx2, gemv,
                                                   PANELS, STREAM_BYTES, LOOPS, IG_GEMM_BLOCK_SMALL, NULL};
const struct ig_gemm_set ig_gemm_small4x24_avx2 = {4, 24, {w8of24, w16of24, w24}, ig_act_row_avx2, NULL,
                                                   0, STREAM_BYTES, LOOPS, IG_GEMM_BLOCK_SMALL, NULL};
