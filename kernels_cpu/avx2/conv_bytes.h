/* Sums of quantised products to outputs, for all kernels of x86. */
#ifndef KERNELS_CPU_AVX2_CONV_BYTES_H
#define KERNELS_CPU_AVX2_CONV_BYTES_H

#include <immintrin.h>

#include "kernels_cpu/common/conv_bytes.h"

/* Sixteen bytes to numbers of 16 bits. */
static inline __attribute__((always_inline)) __m256i ig_bytes_widened(__m128i x, int is_signed)
{
    return is_signed ? _mm256_cvtepi8_epi16(x) : _mm256_cvtepu8_epi16(x);
}

/* The sum of n bytes. */
static inline int32_t ig_bytes_total_avx2(const char *from, int64_t n)
{
    const __m256i zero = _mm256_setzero_si256();
    __m256i sums = zero;
    int64_t i = 0;
    for (; i + 32 <= n; i += 32) sums = _mm256_add_epi64(sums, _mm256_sad_epu8(_mm256_loadu_si256((const __m256i *)(from + i)), zero));
    __m128i two = _mm_add_epi64(_mm256_castsi256_si128(sums), _mm256_extracti128_si256(sums, 1));
    for (; i + 8 <= n; i += 8) two = _mm_add_epi64(two, _mm_sad_epu8(_mm_loadl_epi64((const __m128i *)(from + i)), _mm_setzero_si128()));
    int32_t sum = (int32_t)(_mm_cvtsi128_si64(two) + _mm_extract_epi64(two, 1));
    for (; i < n; i++) sum += (uint8_t)from[i];
    return sum;
}

static inline void ig_bytes_flip_32(char *to, const uint8_t *from, __m256i flip)
{
    _mm256_storeu_si256((__m256i *)to, _mm256_xor_si256(_mm256_loadu_si256((const __m256i *)from), flip));
}

static inline void ig_bytes_flip_16(char *to, const uint8_t *from, __m256i flip)
{
    _mm_storeu_si128((__m128i *)to, _mm_xor_si128(_mm_loadu_si128((const __m128i *)from), _mm256_castsi256_si128(flip)));
}

static inline void ig_bytes_flip_8(char *to, const uint8_t *from, __m256i flip)
{
    _mm_storel_epi64((__m128i *)to, _mm_xor_si128(_mm_loadl_epi64((const __m128i *)from), _mm256_castsi256_si128(flip)));
}

/* `fill` of common/conv_bytes.inc for words of bytes; the last ones overlap what is there. */
static inline void ig_bytes_fill_avx2(void *to, const uint8_t *from, int64_t n, const struct ig_bytes_head *head)
{
    const __m256i flip = _mm256_set1_epi8((char)head->flip);
    char *p = (char *)to;
    if (n < 8) {
        for (int64_t i = 0; i < n; i++) p[i] = (char)(from[i] ^ head->flip);
    } else if (n < 16) {
        ig_bytes_flip_8(p, from, flip);
        ig_bytes_flip_8(p + n - 8, from + n - 8, flip);
    } else if (n < 32) {
        ig_bytes_flip_16(p, from, flip);
        ig_bytes_flip_16(p + n - 16, from + n - 16, flip);
    } else {
        for (int64_t i = 0; i < n - 32; i += 32) ig_bytes_flip_32(p + i, from + i, flip);
        ig_bytes_flip_32(p + n - 32, from + n - 32, flip);
    }
}

/* x - x_zero of so many. */
static inline void ig_bytes_widen_16(int16_t *to, const uint8_t *from, int is_signed, __m256i zero)
{
    const __m256i x = ig_bytes_widened(_mm_loadu_si128((const __m128i *)from), is_signed);
    _mm256_storeu_si256((__m256i *)to, _mm256_sub_epi16(x, zero));
}

static inline void ig_bytes_widen_8(int16_t *to, const uint8_t *from, int is_signed, __m256i zero)
{
    const __m128i x = _mm256_castsi256_si128(ig_bytes_widened(_mm_loadl_epi64((const __m128i *)from), is_signed));
    _mm_storeu_si128((__m128i *)to, _mm_sub_epi16(x, _mm256_castsi256_si128(zero)));
}

static inline void ig_bytes_widen_4(int16_t *to, const uint8_t *from, int is_signed, __m256i zero)
{
    int32_t four;
    __builtin_memcpy(&four, from, sizeof four);
    const __m128i x = _mm256_castsi256_si128(ig_bytes_widened(_mm_cvtsi32_si128(four), is_signed));
    _mm_storel_epi64((__m128i *)to, _mm_sub_epi16(x, _mm256_castsi256_si128(zero)));
}

/* `fill` of common/conv_bytes.inc for words of 16 bits; the last ones overlap what is there. */
static inline void ig_bytes_widen_avx2(void *to, const uint8_t *from, int64_t n, const struct ig_bytes_head *head)
{
    const __m256i zero = _mm256_set1_epi16((int16_t)head->x_zero);
    const int is_signed = head->is_signed;
    int16_t *p = (int16_t *)to;
    if (n < 4) {
        for (int64_t i = 0; i < n; i++) p[i] = (int16_t)((is_signed ? (int8_t)from[i] : from[i]) - head->x_zero);
    } else if (n < 8) {
        ig_bytes_widen_4(p, from, is_signed, zero);
        ig_bytes_widen_4(p + n - 4, from + n - 4, is_signed, zero);
    } else if (n < 16) {
        ig_bytes_widen_8(p, from, is_signed, zero);
        ig_bytes_widen_8(p + n - 8, from + n - 8, is_signed, zero);
    } else {
        for (int64_t i = 0; i < n - 16; i += 16) ig_bytes_widen_16(p + i, from + i, is_signed, zero);
        ig_bytes_widen_16(p + n - 16, from + n - 16, is_signed, zero);
    }
}

struct ig_bytes_bounds { /* y_zero, and what outputs less y_zero lie between */
    __m256 low, high;
    __m256i zero;
};

/* Eight sums to outputs of 32 bits, of which the lowest 8 count. Bounds are integers: they may come before rounding; NaN is the lower one. */
static inline __m256i ig_bytes_eight(const int32_t *sums, const float *scale, const struct ig_bytes_bounds *b)
{
    __m256 y = _mm256_mul_ps(_mm256_cvtepi32_ps(_mm256_loadu_si256((const __m256i *)sums)), _mm256_loadu_ps(scale));
    __m256i v = _mm256_cvtps_epi32(_mm256_min_ps(_mm256_max_ps(y, b->low), b->high));
    return _mm256_and_si256(_mm256_add_epi32(v, b->zero), _mm256_set1_epi32(0xff));
}

/* n bytes, 1 to 7, as the lowest of a number. */
static inline uint64_t ig_bytes_load_few(const uint8_t *from, int32_t n)
{
    uint32_t first, last;
    if (n < 4) return from[0] | (uint64_t)from[n / 2] << 8 * (n / 2) | (uint64_t)from[n - 1] << 8 * (n - 1);
    __builtin_memcpy(&first, from, sizeof first);
    __builtin_memcpy(&last, from + n - 4, sizeof last);
    return first | (uint64_t)last << 8 * (n - 4);
}

/* n bytes, 1 to 15, which may be all that there are: where loads overlap, the same bytes are there twice. */
static inline __m128i ig_bytes_load_some(const uint8_t *from, int32_t n)
{
    uint64_t first, last = 0;
    if (n < 8) return _mm_cvtsi64_si128((int64_t)ig_bytes_load_few(from, n));
    __builtin_memcpy(&first, from, sizeof first);
    if (n > 8) {
        __builtin_memcpy(&last, from + n - 8, sizeof last);
        last >>= 8 * (16 - n);
    }
    return _mm_set_epi64x((int64_t)last, (int64_t)first);
}

/* Bytes [0, n) of sixteen. */
static inline void ig_bytes_store(uint8_t *to, __m128i bytes, int32_t n)
{
    if (n >= IG_BYTES_CHANNELS) {
        _mm_storeu_si128((__m128i *)to, bytes);
        return;
    }
    if (n & 8) {
        _mm_storel_epi64((__m128i *)to, bytes);
        bytes = _mm_unpackhi_epi64(bytes, bytes);
        to += 8;
    }
    uint64_t left = (uint64_t)_mm_cvtsi128_si64(bytes);
    for (int32_t i = 0; i < (n & 7); i++, left >>= 8) to[i] = (uint8_t)left;
}

/* Bytes [0, n) of sixteen, 8 or all. */
static inline void ig_bytes_store_eights(uint8_t *to, __m128i bytes, int32_t n)
{
    if (n == 8) _mm_storel_epi64((__m128i *)to, bytes);
    else _mm_storeu_si128((__m128i *)to, bytes);
}

static inline void ig_bytes_put_any_avx2(uint8_t *const *to, int64_t at, int32_t rows, const int32_t *sums, int64_t step,
                                         const float *scale, int32_t n, const struct ig_bytes_head *head)
{
    const struct ig_bytes_bounds b = {_mm256_set1_ps((float)(head->low - head->y_zero)), _mm256_set1_ps((float)(head->high - head->y_zero)),
                                      _mm256_set1_epi32(head->y_zero)};
    for (int32_t i = 0; i < rows; i++, sums += step)
        for (int32_t c = 0; c < n; c += IG_BYTES_CHANNELS) {
            __m256i first = ig_bytes_eight(sums + c, scale + c, &b), second = ig_bytes_eight(sums + c + 8, scale + c + 8, &b);
            __m256i words = _mm256_permute4x64_epi64(_mm256_packus_epi32(first, second), 0xd8);
            ig_bytes_store(to[i] + at + c, _mm_packus_epi16(_mm256_castsi256_si128(words), _mm256_extracti128_si256(words, 1)), n - c);
        }
}

struct ig_bytes_limits { /* of outputs, as bytes; half: bytes and it are unsigned */
    __m256i zero, low, high, half;
    int32_t plain;
};

static inline struct ig_bytes_limits ig_bytes_limits_of(const struct ig_bytes_head *head)
{
    const int32_t half = head->is_signed_out ? 128 : 0;
    return (struct ig_bytes_limits){_mm256_set1_epi16((int16_t)(head->y_zero + half)), _mm256_set1_epi8((char)(head->low + half)),
                                    _mm256_set1_epi8((char)(head->high + half)), _mm256_set1_epi8((char)half), head->plain};
}

/* y_zero and four vectors of eight to bytes, lane by lane; narrowing keeps those of 32 bits within bounds. */
static inline __m256i ig_bytes_packed_avx2(__m256i a, __m256i b, __m256i c, __m256i d, const struct ig_bytes_limits *by)
{
    a = _mm256_adds_epi16(_mm256_packs_epi32(a, b), by->zero);
    c = _mm256_adds_epi16(_mm256_packs_epi32(c, d), by->zero);
    a = _mm256_packus_epi16(a, c);
    return by->plain ? a : _mm256_xor_si256(_mm256_min_epu8(_mm256_max_epu8(a, by->low), by->high), by->half);
}

/* The same in their order. */
static inline __m256i ig_bytes_narrowed_avx2(__m256i a, __m256i b, __m256i c, __m256i d, const struct ig_bytes_head *head)
{
    const __m256i order = _mm256_setr_epi32(0, 4, 1, 5, 2, 6, 3, 7); /* of the parts that lanes have */
    const struct ig_bytes_limits by = ig_bytes_limits_of(head);
    return _mm256_permutevar8x32_epi32(ig_bytes_packed_avx2(a, b, c, d, &by), order);
}

static inline __m256i ig_bytes_rounded_avx2(const int32_t *sums, __m256 scale)
{
    return _mm256_cvtps_epi32(_mm256_mul_ps(_mm256_cvtepi32_ps(_mm256_loadu_si256((const __m256i *)sums)), scale));
}

/* Pixels k and k + 1 of 16 channels; scale: of 8 and of the others. */
static inline __attribute__((always_inline)) void ig_bytes_put_two(uint8_t *const *to, int64_t at, int64_t k, const int32_t *sums, int64_t step,
                                                                   const __m256 *scale, const struct ig_bytes_head *by)
{
    const int32_t *a = sums + k * step, *b = a + step;
    const __m256i v = ig_bytes_narrowed_avx2(ig_bytes_rounded_avx2(a, scale[0]), ig_bytes_rounded_avx2(a + 8, scale[1]),
                                             ig_bytes_rounded_avx2(b, scale[0]), ig_bytes_rounded_avx2(b + 8, scale[1]), by);
    _mm_storeu_si128((__m128i *)(to[k] + at), _mm256_castsi256_si128(v));
    _mm_storeu_si128((__m128i *)(to[k + 1] + at), _mm256_extracti128_si256(v, 1));
}

/* Two pixels of 16 channels at a time, of two at least, whose rounded products are within 32 bits; plain: as the head says. */
static inline __attribute__((always_inline)) void ig_bytes_put_twos(uint8_t *const *to, int64_t at, int32_t rows, const int32_t *sums, int64_t step,
                                                                    const float *scale, const struct ig_bytes_head *head, const int plain)
{
    const __m256 scales[2] = {_mm256_loadu_ps(scale), _mm256_loadu_ps(scale + 8)};
    struct ig_bytes_head by = *head; /* which outputs, as bytes, might be */
    by.plain = plain;
    for (int64_t i = 0; i + 2 <= rows; i += 2) ig_bytes_put_two(to, at, i, sums, step, scales, &by);
    if (rows & 1) ig_bytes_put_two(to, at, rows - 2, sums, step, scales, &by); /* the last two overlap those before */
}

/* Four pixels of 8 channels at a time, of four at least, whose rounded products are within 32 bits. */
static inline void ig_bytes_put_eights(uint8_t *const *to, int64_t at, int32_t rows, const int32_t *sums, int64_t step,
                                       const float *scale, const struct ig_bytes_head *head)
{
    const __m256 by = _mm256_loadu_ps(scale);
    const struct ig_bytes_head h = *head;
    for (int32_t i = 0; i < rows; i += 4) {
        const int32_t k = i + 4 <= rows ? i : rows - 4; /* the last four overlap those before */
        const int32_t *a = sums + k * step;
        const __m256i v = ig_bytes_narrowed_avx2(ig_bytes_rounded_avx2(a, by), ig_bytes_rounded_avx2(a + step, by),
                                                 ig_bytes_rounded_avx2(a + 2 * step, by), ig_bytes_rounded_avx2(a + 3 * step, by), &h);
        const __m128i first = _mm256_castsi256_si128(v), second = _mm256_extracti128_si256(v, 1);
        _mm_storel_epi64((__m128i *)(to[k] + at), first);
        _mm_storel_epi64((__m128i *)(to[k + 1] + at), _mm_unpackhi_epi64(first, first));
        _mm_storel_epi64((__m128i *)(to[k + 2] + at), second);
        _mm_storel_epi64((__m128i *)(to[k + 3] + at), _mm_unpackhi_epi64(second, second));
    }
}

/* `put` of common/conv_bytes.inc, of sums `step` apart. */
static inline void ig_bytes_put_avx2(uint8_t *const *to, int64_t at, int32_t rows, const int32_t *sums, int64_t step,
                                     const float *scale, int32_t n, const struct ig_bytes_head *head)
{
    const int by_two = head->narrows && n == IG_BYTES_CHANNELS && rows > 1;
    if (by_two && head->plain) ig_bytes_put_twos(to, at, rows, sums, step, scale, head, 1);
    else if (by_two) ig_bytes_put_twos(to, at, rows, sums, step, scale, head, 0);
    else if (head->narrows && n == IG_BYTES_CHANNELS / 2 && rows >= 4) ig_bytes_put_eights(to, at, rows, sums, step, scale, head);
    else ig_bytes_put_any_avx2(to, at, rows, sums, step, scale, n, head);
}

#endif
