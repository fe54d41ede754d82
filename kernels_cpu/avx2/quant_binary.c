/* Sums and products of quantised operands, common/quant_binary.h. */
#include <immintrin.h>

#include "kernels_cpu/avx2/kernels.h"
#include "kernels_cpu/common/quant_binary.h"

#define INLINE static inline __attribute__((always_inline))

INLINE __m256i wide(const uint8_t *from, int is_signed)
{
    __m128i bytes = _mm_loadl_epi64((const __m128i *)from);
    return is_signed ? _mm256_cvtepi8_epi32(bytes) : _mm256_cvtepu8_epi32(bytes);
}

INLINE __m256 sum(__m256i a, __m256i b, const struct ig_quant_binary *q)
{
    __m256 v = _mm256_fmadd_ps(_mm256_cvtepi32_ps(b), _mm256_set1_ps(q->b), _mm256_set1_ps(q->k));
    return _mm256_fmadd_ps(_mm256_cvtepi32_ps(a), _mm256_set1_ps(q->a), v);
}

INLINE __m256 product(__m256i a, __m256i b, const struct ig_quant_binary *q)
{
    a = _mm256_sub_epi32(a, _mm256_set1_epi32(q->a_zero));
    b = _mm256_sub_epi32(b, _mm256_set1_epi32(q->b_zero));
    return _mm256_mul_ps(_mm256_cvtepi32_ps(_mm256_mullo_epi32(a, b)), _mm256_set1_ps(q->product));
}

/* Eight, rounded; NaN becomes the lower bound. */
INLINE __m256i eight(const uint8_t *a, const uint8_t *b, const struct ig_quant_binary *q, const int is_product)
{
    __m256i x = wide(a, q->a_signed), y = wide(b, q->b_signed);
    __m256 v = is_product ? product(x, y, q) : sum(x, y, q);
    if (!q->narrows) v = _mm256_min_ps(_mm256_max_ps(v, _mm256_set1_ps(q->low)), _mm256_set1_ps(q->high));
    return _mm256_cvtps_epi32(v);
}

INLINE void sixteens(uint8_t *y, const uint8_t *a, const uint8_t *b, int64_t n, const struct ig_quant_binary *q, const int is_product)
{
    const __m256i zero = _mm256_set1_epi16((int16_t)q->zero);
    const __m128i least = _mm_set1_epi8((char)q->least), most = _mm_set1_epi8((char)q->most);
    for (int64_t i = 0; i < n; i += 16) {
        __m256i words = _mm256_packs_epi32(eight(a + i, b + i, q, is_product), eight(a + i + 8, b + i + 8, q, is_product));
        words = _mm256_permute4x64_epi64(_mm256_adds_epi16(words, zero), 0xd8);
        __m128i low = _mm256_castsi256_si128(words), high = _mm256_extracti128_si256(words, 1);
        __m128i bytes = q->is_signed ? _mm_min_epi8(_mm_max_epi8(_mm_packs_epi16(low, high), least), most)
                                     : _mm_min_epu8(_mm_max_epu8(_mm_packus_epi16(low, high), least), most);
        _mm_storeu_si128((__m128i *)(y + i), bytes);
    }
}

static void run(uint8_t *y, const uint8_t *a, const uint8_t *b, int64_t n, const struct ig_quant_binary *q)
{
    const struct ig_quant_binary own = *q; /* which no store changes */
    if (q->is_product) sixteens(y, a, b, n, &own, 1);
    else sixteens(y, a, b, n, &own, 0);
}

void qlinear_binary_i8_16__avx2(const struct ig_call *call, struct ig_range range, void *scratch)
{
    (void)scratch;
    ig_quant_binary_rows(call, range, run);
}
