/* Sums of quantised products to outputs: what the sets of conv_bytes.h of all x86 ISAs end with. */
#ifndef KERNELS_CPU_AVX2_CONV_BYTES_H
#define KERNELS_CPU_AVX2_CONV_BYTES_H

#include <immintrin.h>

#include "kernels_cpu/common/conv_bytes.h"

/* Eight sums to numbers of 32 bits, of which eight count. The bounds come before the rounding, which keeps integers; NaN is the lower. */
static inline __m256i ig_bytes_eight(const int32_t *sums, const int32_t *bias, const float *scale, const struct ig_bytes_head *head)
{
    __m256 low = _mm256_set1_ps((float)(head->low - head->y_zero)), high = _mm256_set1_ps((float)(head->high - head->y_zero));
    __m256i sum = _mm256_add_epi32(_mm256_loadu_si256((const __m256i *)sums), _mm256_loadu_si256((const __m256i *)bias));
    __m256 y = _mm256_mul_ps(_mm256_cvtepi32_ps(sum), _mm256_loadu_ps(scale));
    __m256i v = _mm256_cvtps_epi32(_mm256_min_ps(_mm256_max_ps(y, low), high));
    return _mm256_and_si256(_mm256_add_epi32(v, _mm256_set1_epi32(head->y_zero)), _mm256_set1_epi32(0xff));
}

static inline void ig_bytes_put_avx2(uint8_t *to, const int32_t *sums, const int32_t *bias, const float *scale, int32_t n,
                                     const struct ig_bytes_head *head)
{
    __m256i a = ig_bytes_eight(sums, bias, scale, head), b = ig_bytes_eight(sums + 8, bias + 8, scale + 8, head);
    __m256i words = _mm256_permute4x64_epi64(_mm256_packus_epi32(a, b), 0xd8);
    __m128i bytes = _mm_packus_epi16(_mm256_castsi256_si128(words), _mm256_extracti128_si256(words, 1));
    if (n == IG_BYTES_CHANNELS) {
        _mm_storeu_si128((__m128i *)to, bytes);
        return;
    }
    if (n & 8) {
        _mm_storel_epi64((__m128i *)to, bytes);
        bytes = _mm_unpackhi_epi64(bytes, bytes);
        to += 8;
    }
    for (uint64_t left = (uint64_t)_mm_cvtsi128_si64(bytes), i = 0; i < (n & 7); i++, left >>= 8) to[i] = (uint8_t)left;
}

#endif
