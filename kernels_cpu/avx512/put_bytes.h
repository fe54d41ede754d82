/* Sums of quantised products to outputs, sixteen at a time: `put` of common/conv_bytes.inc, of tiles of 32 channels. */
#ifndef KERNELS_CPU_AVX512_PUT_BYTES_H
#define KERNELS_CPU_AVX512_PUT_BYTES_H

#include <immintrin.h>

#include "kernels_cpu/avx2/conv_bytes.h"

enum { IG_BYTES_PUT_STEP = 32 }; /* from a pixel's sums to the next one's */

struct ig_bytes_channels { /* sixteen: what their sums become outputs by */
    __m512 scale;
    __mmask16 there;
};

static inline struct ig_bytes_channels ig_bytes_channels_of(const float *scale, int32_t n)
{
    __mmask16 there = n >= 16 ? 0xffff : n > 0 ? (__mmask16)((1u << n) - 1) : 0;
    return (struct ig_bytes_channels){_mm512_maskz_loadu_ps(there, scale), there};
}

static inline void ig_bytes_put_any(uint8_t *const *to, int64_t at, int32_t rows, const int32_t *sums, const float *scale, int32_t n,
                                    const struct ig_bytes_head *head)
{
    const struct ig_bytes_channels by[2] = {ig_bytes_channels_of(scale, n), ig_bytes_channels_of(scale + 16, n - 16)};
    const __m512 low = _mm512_set1_ps((float)(head->low - head->y_zero)), high = _mm512_set1_ps((float)(head->high - head->y_zero));
    const __m512i zero = _mm512_set1_epi32(head->y_zero);
    for (int32_t i = 0; i < rows; i++, sums += IG_BYTES_PUT_STEP)
        for (int j = 0; j < 2; j++) {
            __m512 y = _mm512_mul_ps(_mm512_cvtepi32_ps(_mm512_loadu_si512(sums + 16 * j)), by[j].scale);
            __m512i v = _mm512_cvtps_epi32(_mm512_min_ps(_mm512_max_ps(y, low), high));
            _mm_mask_storeu_epi8(to[i] + at + 16 * j, by[j].there, _mm512_cvtepi32_epi8(_mm512_add_epi32(v, zero)));
        }
}

static inline __m512i ig_bytes_rounded(const int32_t *sums, __m512 scale)
{
    return _mm512_cvtps_epi32(_mm512_mul_ps(_mm512_cvtepi32_ps(_mm512_loadu_si512(sums)), scale));
}

/* y_zero and four vectors of sixteen to bytes, in each lane those of the four vectors' lane; narrowing keeps those of 32 bits within bounds. */
static inline __m512i ig_bytes_in_lanes(__m512i a, __m512i b, __m512i c, __m512i d, const struct ig_bytes_head *head)
{
    const int32_t half = head->is_signed_out ? 128 : 0; /* bytes and it are unsigned */
    const __m512i zero = _mm512_set1_epi16((int16_t)(head->y_zero + half)), flip = _mm512_set1_epi8((char)half);
    const __m512i low = _mm512_set1_epi8((char)(head->low + half)), high = _mm512_set1_epi8((char)(head->high + half));
    a = _mm512_packs_epi32(a, b), c = _mm512_packs_epi32(c, d);
    a = _mm512_adds_epi16(a, zero), c = _mm512_adds_epi16(c, zero);
    a = _mm512_packus_epi16(a, c);
    return head->plain ? a : _mm512_xor_si512(_mm512_min_epu8(_mm512_max_epu8(a, low), high), flip);
}

/* The same, the first vector's first. */
static inline __m512i ig_bytes_narrowed(__m512i a, __m512i b, __m512i c, __m512i d, const struct ig_bytes_head *head)
{
    const __m512i order = _mm512_setr_epi32(0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15); /* of the parts that lanes have */
    return _mm512_permutexvar_epi32(order, ig_bytes_in_lanes(a, b, c, d, head));
}

/* Two pixels of 32 channels at a time, whose rounded products are within 32 bits. */
static inline void ig_bytes_put_pairs(uint8_t *const *to, int64_t at, int32_t rows, const int32_t *sums, const float *scale,
                                      const struct ig_bytes_head *head)
{
    const __m512 first = _mm512_loadu_ps(scale), second = _mm512_loadu_ps(scale + 16);
    const struct ig_bytes_head h = *head; /* which outputs, as bytes, might be */
    for (int32_t i = 0; i < rows; i += 2, sums += 2 * IG_BYTES_PUT_STEP) {
        __m512i v = ig_bytes_narrowed(ig_bytes_rounded(sums, first), ig_bytes_rounded(sums + 16, second), ig_bytes_rounded(sums + 32, first),
                                      ig_bytes_rounded(sums + 48, second), &h);
        _mm256_storeu_si256((__m256i *)(to[i] + at), _mm512_castsi512_si256(v));
        _mm256_storeu_si256((__m256i *)(to[i + 1] + at), _mm512_extracti64x4_epi64(v, 1));
    }
}

/* Four pixels of 16 channels at a time, of four at least, whose rounded products are within 32 bits; sums are `step` apart. */
static inline void ig_bytes_put_fours(uint8_t *const *to, int64_t at, int32_t rows, const int32_t *sums, int64_t step, const float *scale,
                                      const struct ig_bytes_head *head)
{
    const __m512 by = _mm512_loadu_ps(scale);
    const struct ig_bytes_head h = *head;
    for (int32_t i = 0; i < rows; i += 4) { /* the last four overlap those before */
        const int32_t k = i + 4 <= rows ? i : rows - 4;
        const int32_t *from = sums + k * step;
        __m512i v = ig_bytes_narrowed(ig_bytes_rounded(from, by), ig_bytes_rounded(from + step, by), ig_bytes_rounded(from + 2 * step, by),
                                      ig_bytes_rounded(from + 3 * step, by), &h);
        _mm_storeu_si128((__m128i *)(to[k] + at), _mm512_castsi512_si128(v));
        _mm_storeu_si128((__m128i *)(to[k + 1] + at), _mm512_extracti32x4_epi32(v, 1));
        _mm_storeu_si128((__m128i *)(to[k + 2] + at), _mm512_extracti32x4_epi32(v, 2));
        _mm_storeu_si128((__m128i *)(to[k + 3] + at), _mm512_extracti32x4_epi32(v, 3));
    }
}

/* Of 8, 16 or 24 channels, of four pixels at least. */
static inline void ig_bytes_put_few(uint8_t *const *to, int64_t at, int32_t rows, const int32_t *sums, const float *scale, int32_t n,
                                    const struct ig_bytes_head *head)
{
    const int32_t whole = n & 16;
    if (whole) ig_bytes_put_fours(to, at, rows, sums, IG_BYTES_PUT_STEP, scale, head);
    if (n & 8) ig_bytes_put_eights(to, at + whole, rows, sums + whole, IG_BYTES_PUT_STEP, scale + whole, head);
}

static inline void ig_bytes_put_avx512(uint8_t *const *to, int64_t at, int32_t rows, const int32_t *sums, const float *scale, int32_t n,
                                       const struct ig_bytes_head *head)
{
    const int32_t pairs = head->narrows && n == IG_BYTES_PUT_STEP ? rows & ~1 : 0;
    if (head->narrows && n < IG_BYTES_PUT_STEP && n % 8 == 0 && rows >= 4) {
        ig_bytes_put_few(to, at, rows, sums, scale, n, head);
        return;
    }
    ig_bytes_put_pairs(to, at, pairs, sums, scale, head);
    if (pairs < rows) ig_bytes_put_any(to + pairs, at, rows - pairs, sums + pairs * IG_BYTES_PUT_STEP, scale, n, head);
}

/* Of 16 channels, whose sums are 16 apart: four pixels at a time. */
static inline void ig_bytes_put_quads(uint8_t *const *to, int64_t at, int32_t rows, const int32_t *sums, const float *scale, int32_t n,
                                      const struct ig_bytes_head *head)
{
    if (head->narrows && n >= IG_BYTES_CHANNELS && rows >= 4) ig_bytes_put_fours(to, at, rows, sums, IG_BYTES_CHANNELS, scale, head);
    else ig_bytes_put_avx2(to, at, rows, sums, IG_BYTES_CHANNELS, scale, n, head);
}

#endif
