/*
 * The micro-kernels of gemm.S by rows and width, and the matrix-vector product of a one-row FC: eight panels read side
 * by side, as many streams as hide the memory's latency.
 */
#include "kernels_cpu/avx512/gemm.h"

#include <immintrin.h>

#include "kernels_cpu/avx512/act.h"
#include "kernels_cpu/common/blocks.h"

enum { PANELS = 8 };

ig_gemm_fn ig_gemm16_1x8_avx512, ig_gemm16_2x8_avx512, ig_gemm16_3x8_avx512, ig_gemm16_4x8_avx512,
    ig_gemm16_5x8_avx512, ig_gemm16_6x8_avx512, ig_gemm16_7x8_avx512, ig_gemm16_8x8_avx512, ig_gemm16_9x8_avx512,
    ig_gemm16_10x8_avx512, ig_gemm16_11x8_avx512, ig_gemm16_12x8_avx512;
ig_gemm_fn ig_gemm16_1x16_avx512, ig_gemm16_2x16_avx512, ig_gemm16_3x16_avx512, ig_gemm16_4x16_avx512,
    ig_gemm16_5x16_avx512, ig_gemm16_6x16_avx512, ig_gemm16_7x16_avx512, ig_gemm16_8x16_avx512, ig_gemm16_9x16_avx512,
    ig_gemm16_10x16_avx512, ig_gemm16_11x16_avx512, ig_gemm16_12x16_avx512;

static inline __attribute__((always_inline)) void panels_of(const float *x, int64_t k, const float *panels, const int n, float *c)
{
    const int64_t panel = ig_gemm_panel(1, k, 16);
    const float *b[PANELS];
    __m512 acc[PANELS];
#pragma GCC unroll 8
    for (int i = 0; i < n; i++) acc[i] = _mm512_loadu_ps(b[i] = panels + i * panel);
    for (int64_t i = 1; i <= k; i++) {
        __m512 a = _mm512_set1_ps(*x++);
#pragma GCC unroll 8
        for (int j = 0; j < n; j++) acc[j] = _mm512_fmadd_ps(a, _mm512_loadu_ps(b[j] + i * 16), acc[j]);
    }
#pragma GCC unroll 8
    for (int i = 0; i < n; i++) _mm512_storeu_ps(c + i * 16, acc[i]);
}

static void gemv(const float *x, int64_t k, const void *panels, int32_t n, float *c)
{
#define OF(n) case n: panels_of(x, k, (const float *)panels, n, c); break
    switch (n) {
        OF(1); OF(2); OF(3); OF(4); OF(5); OF(6); OF(7);
    default: panels_of(x, k, (const float *)panels, PANELS, c); break;
    }
#undef OF
}

static ig_gemm_fn *const w8[] = {ig_gemm16_1x8_avx512, ig_gemm16_2x8_avx512, ig_gemm16_3x8_avx512,
                                 ig_gemm16_4x8_avx512, ig_gemm16_5x8_avx512, ig_gemm16_6x8_avx512,
                                 ig_gemm16_7x8_avx512, ig_gemm16_8x8_avx512, ig_gemm16_9x8_avx512,
                                 ig_gemm16_10x8_avx512, ig_gemm16_11x8_avx512, ig_gemm16_12x8_avx512};
static ig_gemm_fn *const w16[] = {ig_gemm16_1x16_avx512, ig_gemm16_2x16_avx512, ig_gemm16_3x16_avx512,
                                  ig_gemm16_4x16_avx512, ig_gemm16_5x16_avx512, ig_gemm16_6x16_avx512,
                                  ig_gemm16_7x16_avx512, ig_gemm16_8x16_avx512, ig_gemm16_9x16_avx512,
                                  ig_gemm16_10x16_avx512, ig_gemm16_11x16_avx512, ig_gemm16_12x16_avx512};

const struct ig_gemm_set ig_gemm_12x32_avx512 = {12, 16, {w8, w16}, ig_act_row_avx512, gemv, PANELS,
                                                 IG_GEMM_STREAM_BYTES_AVX512, IG_GEMM_LOOPS_AVX512,
                                                 IG_GEMM_BLOCK_AVX512, NULL};
