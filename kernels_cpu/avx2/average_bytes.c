/* Average pooling of bytes, common/average_bytes.inc. */
#include <immintrin.h>

#include "kernels_cpu/avx2/kernels.h"

enum { HALF = 16 };

typedef __m256i words;

struct totals { /* of the lower and the upper four of each half's eight words, which packing puts side by side again */
    __m256i low, high;
};

#include "kernels_cpu/common/average_bytes.inc"

AVERAGE_INLINE words words_none(void)
{
    return _mm256_setzero_si256();
}

AVERAGE_INLINE words words_of(const uint8_t *p, int32_t flip)
{
    return _mm256_xor_si256(_mm256_cvtepu8_epi16(_mm_loadu_si128((const __m128i *)p)), _mm256_set1_epi16((int16_t)flip));
}

AVERAGE_INLINE words words_add(words a, words b)
{
    return _mm256_add_epi16(a, b);
}

AVERAGE_INLINE words words_sub(words a, words b)
{
    return _mm256_sub_epi16(a, b);
}

AVERAGE_INLINE struct totals totals_none(void)
{
    return (struct totals){_mm256_setzero_si256(), _mm256_setzero_si256()};
}

AVERAGE_INLINE struct totals totals_add(struct totals t, words w)
{
    const __m256i zero = _mm256_setzero_si256();
    return (struct totals){_mm256_add_epi32(t.low, _mm256_unpacklo_epi16(w, zero)), _mm256_add_epi32(t.high, _mm256_unpackhi_epi16(w, zero))};
}

/* Eight, rounded; NaN becomes the lower bound. */
AVERAGE_INLINE __m256i rounded(__m256i sum, const struct average *q, const struct average_pixel *p)
{
    const __m256 a = _mm256_mul_ps(_mm256_cvtepi32_ps(_mm256_sub_epi32(sum, _mm256_set1_epi32(p->bias))), _mm256_set1_ps(p->scale));
    const __m256 n = _mm256_set1_ps(p->n), r = _mm256_set1_ps(p->inverse);
    __m256 v = _mm256_mul_ps(a, r);
    v = p->divides ? _mm256_div_ps(a, n) : _mm256_fmadd_ps(_mm256_fnmadd_ps(n, v, a), r, v);
    return _mm256_cvtps_epi32(_mm256_min_ps(_mm256_max_ps(v, _mm256_set1_ps(q->low)), _mm256_set1_ps(q->high)));
}

AVERAGE_INLINE void totals_put(uint8_t *out, struct totals t, const struct average *q, const struct average_pixel *p)
{
    const __m256i both = _mm256_packs_epi32(rounded(t.low, q, p), rounded(t.high, q, p));
    const __m256i y = _mm256_add_epi16(both, _mm256_set1_epi16((int16_t)q->zero));
    const __m128i low = _mm256_castsi256_si128(y), high = _mm256_extracti128_si256(y, 1);
    _mm_storeu_si128((__m128i *)out, q->is_signed ? _mm_packs_epi16(low, high) : _mm_packus_epi16(low, high));
}

void pool_i8_average32__avx2(const struct ig_call *call, struct ig_range range, void *scratch)
{
    (void)scratch;
    average_bytes(call, range);
}
