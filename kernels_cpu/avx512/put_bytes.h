/* Sums of quantised products to outputs, sixteen at a time: `put` of common/conv_bytes.inc, of tiles of 32 channels. */
#ifndef KERNELS_CPU_AVX512_PUT_BYTES_H
#define KERNELS_CPU_AVX512_PUT_BYTES_H

#include <immintrin.h>

#include "kernels_cpu/common/conv_bytes.h"

enum { IG_BYTES_PUT_STEP = 32 }; /* from a pixel's sums to the next one's */

struct ig_bytes_sixteen { /* channels: what their sums become outputs by */
    __m512i bias;
    __m512 scale;
    __mmask16 there;
};

static inline struct ig_bytes_sixteen ig_bytes_sixteen_of(const int32_t *bias, const float *scale, int32_t n)
{
    __mmask16 there = n >= 16 ? 0xffff : n > 0 ? (__mmask16)((1u << n) - 1) : 0;
    return (struct ig_bytes_sixteen){_mm512_maskz_loadu_epi32(there, bias), _mm512_maskz_loadu_ps(there, scale), there};
}

static inline void ig_bytes_put_avx512(uint8_t *const *to, int64_t at, int32_t rows, const int32_t *sums, const int32_t *bias, const float *scale,
                                       int32_t n, const struct ig_bytes_head *head)
{
    const struct ig_bytes_sixteen by[2] = {ig_bytes_sixteen_of(bias, scale, n), ig_bytes_sixteen_of(bias + 16, scale + 16, n - 16)};
    const __m512 low = _mm512_set1_ps((float)(head->low - head->y_zero)), high = _mm512_set1_ps((float)(head->high - head->y_zero));
    const __m512i zero = _mm512_set1_epi32(head->y_zero);
    for (int32_t i = 0; i < rows; i++, sums += IG_BYTES_PUT_STEP)
        for (int j = 0; j < 2; j++) {
            const struct ig_bytes_sixteen *b = &by[j];
            __m512i sum = _mm512_add_epi32(_mm512_loadu_si512(sums + 16 * j), b->bias);
            __m512 y = _mm512_min_ps(_mm512_max_ps(_mm512_mul_ps(_mm512_cvtepi32_ps(sum), b->scale), low), high);
            _mm512_mask_cvtepi32_storeu_epi8(to[i] + at + 16 * j, b->there, _mm512_add_epi32(_mm512_cvtps_epi32(y), zero));
        }
}

#endif
