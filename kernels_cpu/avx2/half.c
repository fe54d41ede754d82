/* Kernels on halves: F16C's conversions around the kernels on floats (common/half.h). */
#include <immintrin.h>

#include "kernels_cpu/avx2/gemm.h"
#include "kernels_cpu/avx2/kernels.h"
#include "kernels_cpu/common/half.h"

static void widen(float *to, int64_t to_step, const uint16_t *from, int64_t from_step, int64_t n, int32_t pixels)
{
    for (int32_t x = 0; x < pixels; x++, to += to_step, from += from_step) {
        int64_t i = 0;
        for (; i + 8 <= n; i += 8)
            _mm256_storeu_ps(to + i, _mm256_cvtph_ps(_mm_loadu_si128((const __m128i *)(from + i))));
        for (; i < n; i++) to[i] = _cvtsh_ss(from[i]);
    }
}

/* 0: to nearest, ties to even. */
static void narrow(uint16_t *to, int64_t to_step, const float *from, int64_t from_step, int64_t n, int32_t pixels)
{
    for (int32_t x = 0; x < pixels; x++, to += to_step, from += from_step) {
        int64_t i = 0;
        for (; i + 8 <= n; i += 8)
            _mm_storeu_si128((__m128i *)(to + i), _mm256_cvtps_ph(_mm256_loadu_ps(from + i), 0));
        for (; i < n; i++) to[i] = _cvtss_sh(from[i], 0);
    }
}

enum { PANELS = 4, AHEAD = 2048 /* bytes */ };

static __m256 wide(const uint16_t *from)
{
    return _mm256_cvtph_ps(_mm_loadu_si128((const __m128i *)from));
}

/* What comes soon is fetched; it may be beyond all weights. */
static inline __attribute__((always_inline)) void panels_of(const float *x, int64_t k, const uint16_t *panels, const int n, float *c)
{
    int64_t panel = ig_gemm_panel(1, k, 16);
    const uint16_t *b[PANELS] = {panels, panels + panel, panels + 2 * panel, panels + 3 * panel};
    __m256 acc[2 * PANELS];
#pragma GCC unroll 8
    for (int i = 0; i < 2 * n; i++) acc[i] = wide(b[i / 2] + i % 2 * 8);
    for (int64_t i = 1; i <= k; i++) {
        __m256 a = _mm256_broadcast_ss(x++);
#pragma GCC unroll 8
        for (int j = 0; j < 2 * n; j++) {
            if (j % 2 == 0) _mm_prefetch((const char *)(b[j / 2] + i * 16) + AHEAD, _MM_HINT_T0);
            acc[j] = _mm256_fmadd_ps(a, wide(b[j / 2] + i * 16 + j % 2 * 8), acc[j]);
        }
    }
#pragma GCC unroll 8
    for (int i = 0; i < 2 * n; i++) _mm256_storeu_ps(c + i * 8, acc[i]);
}

static void gemv(const float *x, int64_t k, const void *panels, int32_t n, float *c)
{
#define OF(n) case n: panels_of(x, k, (const uint16_t *)panels, n, c); break
    switch (n) {
        OF(1); OF(2); OF(3);
    default: panels_of(x, k, (const uint16_t *)panels, PANELS, c); break;
    }
#undef OF
}

void conv_f16_6x16__avx2(const struct ig_call *call, struct ig_range range, void *scratch)
{
    const struct ig_half half = {ig_half_conv16, conv_f32_6x16__avx2, widen, narrow, &ig_gemm_6x16_avx2, gemv};
    ig_half_run(call, range, scratch, &half);
}

void conv_f16_lean6x16__avx2(const struct ig_call *call, struct ig_range range, void *scratch)
{
    const struct ig_half half = {ig_half_conv16_lean, conv_f32_6x16__avx2, widen, narrow, &ig_gemm_6x16_avx2, gemv};
    ig_half_run(call, range, scratch, &half);
}

void conv_f16_depthwise3x3__avx2(const struct ig_call *call, struct ig_range range, void *scratch)
{
    const struct ig_half half = {ig_half_depthwise8, conv_f32_depthwise3x3__avx2, widen, narrow, NULL, NULL};
    ig_half_run(call, range, scratch, &half);
}

void conv_f16_depthwise8__avx2(const struct ig_call *call, struct ig_range range, void *scratch)
{
    const struct ig_half half = {ig_half_depthwise8, conv_f32_depthwise8__avx2, widen, narrow, NULL, NULL};
    ig_half_run(call, range, scratch, &half);
}

void deconv_f16_6x16__avx2(const struct ig_call *call, struct ig_range range, void *scratch)
{
    const struct ig_half half = {ig_half_deconv16, deconv_f32_6x16__avx2, widen, narrow, &ig_gemm_6x16_avx2, NULL};
    ig_half_run(call, range, scratch, &half);
}

void fc_f16_6x16__avx2(const struct ig_call *call, struct ig_range range, void *scratch)
{
    const struct ig_half half = {ig_half_fc16, fc_f32_6x16__avx2, widen, narrow, &ig_gemm_6x16_avx2, gemv};
    ig_half_run(call, range, scratch, &half);
}

void pool_f16_slide8__avx2(const struct ig_call *call, struct ig_range range, void *scratch)
{
    const struct ig_half half = {ig_half_pool, pool_f32_slide8__avx2, widen, narrow, NULL, NULL};
    ig_half_run(call, range, scratch, &half);
}

void pool_f16_8__avx2(const struct ig_call *call, struct ig_range range, void *scratch)
{
    const struct ig_half half = {ig_half_pool, pool_f32_8__avx2, widen, narrow, NULL, NULL};
    ig_half_run(call, range, scratch, &half);
}

void global_pool_f16_8__avx2(const struct ig_call *call, struct ig_range range, void *scratch)
{
    const struct ig_half half = {{IG_GLOBAL_POOL, IG_HALF_SLICES, 8, 1}, global_pool_f32_8__avx2, widen, narrow, NULL, NULL};
    ig_half_global_pool(call, range, scratch, &half);
}

void unary_f16_8__avx2(const struct ig_call *call, struct ig_range range, void *scratch)
{
    const struct ig_half half = {ig_half_unary, unary_f32_other8__avx2, widen, narrow, NULL, NULL};
    ig_half_run(call, range, scratch, &half);
}

void binary_f16_8__avx2(const struct ig_call *call, struct ig_range range, void *scratch)
{
    const struct ig_half half = {ig_half_binary, binary_f32_8__avx2, widen, narrow, NULL, NULL};
    ig_half_run(call, range, scratch, &half);
}

void softmax_f16_8__avx2(const struct ig_call *call, struct ig_range range, void *scratch)
{
    const struct ig_half half = {ig_half_softmax, softmax_f32_8__avx2, widen, narrow, NULL, NULL};
    ig_half_run(call, range, scratch, &half);
}
