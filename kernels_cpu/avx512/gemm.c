/*
 * The micro-kernels of gemm.S by rows and width, and the matrix-vector product of a one-row FC: eight panels read side
 * by side, as many streams as hide the memory's latency.
 */
#include "kernels_cpu/avx512/gemm.h"

#include <immintrin.h>

#include "kernels_cpu/avx512/act.h"
#include "kernels_cpu/common/blocks.h"

ig_gemm_fn ig_gemm16_1x8_avx512, ig_gemm16_2x8_avx512, ig_gemm16_3x8_avx512, ig_gemm16_4x8_avx512,
    ig_gemm16_5x8_avx512, ig_gemm16_6x8_avx512, ig_gemm16_7x8_avx512, ig_gemm16_8x8_avx512, ig_gemm16_9x8_avx512,
    ig_gemm16_10x8_avx512, ig_gemm16_11x8_avx512, ig_gemm16_12x8_avx512;
ig_gemm_fn ig_gemm16_1x16_avx512, ig_gemm16_2x16_avx512, ig_gemm16_3x16_avx512, ig_gemm16_4x16_avx512,
    ig_gemm16_5x16_avx512, ig_gemm16_6x16_avx512, ig_gemm16_7x16_avx512, ig_gemm16_8x16_avx512, ig_gemm16_9x16_avx512,
    ig_gemm16_10x16_avx512, ig_gemm16_11x16_avx512, ig_gemm16_12x16_avx512;

static void gemv_128(const float *x, int64_t k, const float *panels, float *c)
{
    const int64_t panel = ig_gemm_panel(1, k, 16);
    const float *b[8];
    __m512 acc[8];
#pragma GCC unroll 8
    for (int i = 0; i < 8; i++) acc[i] = _mm512_loadu_ps(b[i] = panels + i * panel);
    for (int64_t i = 1; i <= k; i++) {
        __m512 a = _mm512_set1_ps(*x++);
#pragma GCC unroll 8
        for (int j = 0; j < 8; j++) acc[j] = _mm512_fmadd_ps(a, _mm512_loadu_ps(b[j] + i * 16), acc[j]);
    }
#pragma GCC unroll 8
    for (int i = 0; i < 8; i++) _mm512_storeu_ps(c + i * 16, acc[i]);
}

static ig_gemm_fn *const w8[] = {ig_gemm16_1x8_avx512, ig_gemm16_2x8_avx512, ig_gemm16_3x8_avx512,
                                 ig_gemm16_4x8_avx512, ig_gemm16_5x8_avx512, ig_gemm16_6x8_avx512,
                                 ig_gemm16_7x8_avx512, ig_gemm16_8x8_avx512, ig_gemm16_9x8_avx512,
                                 ig_gemm16_10x8_avx512, ig_gemm16_11x8_avx512, ig_gemm16_12x8_avx512};
static ig_gemm_fn *const w16[] = {ig_gemm16_1x16_avx512, ig_gemm16_2x16_avx512, ig_gemm16_3x16_avx512,
                                  ig_gemm16_4x16_avx512, ig_gemm16_5x16_avx512, ig_gemm16_6x16_avx512,
                                  ig_gemm16_7x16_avx512, ig_gemm16_8x16_avx512, ig_gemm16_9x16_avx512,
                                  ig_gemm16_10x16_avx512, ig_gemm16_11x16_avx512, ig_gemm16_12x16_avx512};

const struct ig_gemm_set ig_gemm_12x32_avx512 = {12, 16, {w8, w16}, ig_act_row_avx512, gemv_128, 8,
                                                 IG_GEMM_STREAM_BYTES_AVX512, IG_GEMM_LOOPS_AVX512,
                                                 IG_GEMM_BLOCK_AVX512, NULL};
