/* Products of halves: conversions of sixteen around the kernels on floats (common/half.h). */
#include <immintrin.h>

#include "kernels_cpu/avx512/gemm.h"
#include "kernels_cpu/avx512/kernels.h"
#include "kernels_cpu/avx512/vec.h"
#include "kernels_cpu/common/half.h"

static __m512 wide(const uint16_t *from)
{
    return _mm512_cvtph_ps(_mm256_loadu_si256((const __m256i *)from));
}

/* Stores of some lanes are slow: only the last ones are such. */
static void widen(float *to, int64_t to_step, const uint16_t *from, int64_t from_step, int64_t n, int32_t pixels)
{
    const __mmask16 k = ig_mask16(n % 16);
    for (int32_t x = 0; x < pixels; x++, to += to_step, from += from_step) {
        int64_t i = 0;
        for (; i + 16 <= n; i += 16) _mm512_storeu_ps(to + i, wide(from + i));
        if (k) _mm512_mask_storeu_ps(to + i, k, _mm512_cvtph_ps(_mm256_maskz_loadu_epi16(k, from + i)));
    }
}

/* 0: to nearest, ties to even. */
static void narrow(uint16_t *to, int64_t to_step, const float *from, int64_t from_step, int64_t n, int32_t pixels)
{
    const __mmask16 k = ig_mask16(n % 16);
    for (int32_t x = 0; x < pixels; x++, to += to_step, from += from_step) {
        int64_t i = 0;
        for (; i + 16 <= n; i += 16) _mm256_storeu_si256((__m256i *)(to + i), _mm512_cvtps_ph(_mm512_loadu_ps(from + i), 0));
        if (k) _mm256_mask_storeu_epi16(to + i, k, _mm512_cvtps_ph(_mm512_maskz_loadu_ps(k, from + i), 0));
    }
}

enum { PANELS = 8, FAR_PANELS = 4, AHEAD = 2048 /* bytes */ };

/* Of few panels, as of those that come from memory, what comes soon is fetched; it may be beyond all weights. */
static inline __attribute__((always_inline)) void panels_of(const float *x, int64_t k, const uint16_t *panels, const int n, float *c)
{
    const int64_t panel = ig_gemm_panel(1, k, 16);
    const uint16_t *b[PANELS];
    __m512 acc[PANELS];
#pragma GCC unroll 8
    for (int i = 0; i < n; i++) acc[i] = wide(b[i] = panels + i * panel);
    for (int64_t i = 1; i <= k; i++) {
        __m512 a = _mm512_set1_ps(*x++);
#pragma GCC unroll 8
        for (int j = 0; j < n; j++) {
            if (n <= FAR_PANELS) _mm_prefetch((const char *)(b[j] + i * 16) + AHEAD, _MM_HINT_T0);
            acc[j] = _mm512_fmadd_ps(a, wide(b[j] + i * 16), acc[j]);
        }
    }
#pragma GCC unroll 8
    for (int i = 0; i < n; i++) _mm512_storeu_ps(c + i * 16, acc[i]);
}

static void gemv(const float *x, int64_t k, const void *panels, int32_t n, float *c)
{
#define OF(n) case n: panels_of(x, k, (const uint16_t *)panels, n, c); break
    switch (n) {
        OF(1); OF(2); OF(3); OF(4); OF(5); OF(6); OF(7);
    default: panels_of(x, k, (const uint16_t *)panels, PANELS, c); break;
    }
#undef OF
}

void conv_f16_12x32__avx512(const struct ig_call *call, struct ig_range range, void *scratch)
{
    const struct ig_half half = {ig_half_conv16, conv_f32_12x32__avx512, widen, narrow, &ig_gemm_12x32_avx512, gemv};
    ig_half_run(call, range, scratch, &half);
}

void deconv_f16_12x32__avx512(const struct ig_call *call, struct ig_range range, void *scratch)
{
    const struct ig_half half = {ig_half_deconv16, deconv_f32_12x32__avx512, widen, narrow, &ig_gemm_12x32_avx512, NULL};
    ig_half_run(call, range, scratch, &half);
}

void fc_f16_12x32__avx512(const struct ig_call *call, struct ig_range range, void *scratch)
{
    const struct ig_half half = {ig_half_fc16, fc_f32_12x32__avx512, widen, narrow, &ig_gemm_12x32_avx512, gemv};
    ig_half_run(call, range, scratch, &half);
}
