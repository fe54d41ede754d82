/* Average pooling of bytes, common/average_bytes.inc. */
#include <immintrin.h>

#include "kernels_cpu/avx512/kernels.h"

enum { HALF = 32 };

typedef __m512i words;

struct totals {
    __m512i low, high;
};

#include "kernels_cpu/common/average_bytes.inc"

AVERAGE_INLINE words words_none(void)
{
    return _mm512_setzero_si512();
}

AVERAGE_INLINE words words_of(const uint8_t *p, int32_t flip)
{
    return _mm512_cvtepu8_epi16(_mm256_xor_si256(_mm256_loadu_si256((const __m256i *)p), _mm256_set1_epi8((char)flip)));
}

AVERAGE_INLINE words words_add(words a, words b)
{
    return _mm512_add_epi16(a, b);
}

AVERAGE_INLINE words words_sub(words a, words b)
{
    return _mm512_sub_epi16(a, b);
}

AVERAGE_INLINE struct totals totals_none(void)
{
    return (struct totals){_mm512_setzero_si512(), _mm512_setzero_si512()};
}

AVERAGE_INLINE struct totals totals_add(struct totals t, words w)
{
    return (struct totals){_mm512_add_epi32(t.low, _mm512_cvtepu16_epi32(_mm512_castsi512_si256(w))),
                           _mm512_add_epi32(t.high, _mm512_cvtepu16_epi32(_mm512_extracti64x4_epi64(w, 1)))};
}

/* Sixteen of y; NaN becomes the lower bound. */
AVERAGE_INLINE __m128i rounded(__m512i sum, const struct average *q, const struct average_pixel *p)
{
    const __m512 a = _mm512_mul_ps(_mm512_cvtepi32_ps(_mm512_sub_epi32(sum, _mm512_set1_epi32(p->bias))), _mm512_set1_ps(p->scale));
    const __m512 n = _mm512_set1_ps(p->n), r = _mm512_set1_ps(p->inverse);
    __m512 v = _mm512_mul_ps(a, r);
    v = p->divides ? _mm512_div_ps(a, n) : _mm512_fmadd_ps(_mm512_fnmadd_ps(n, v, a), r, v);
    v = _mm512_min_ps(_mm512_max_ps(v, _mm512_set1_ps(q->low)), _mm512_set1_ps(q->high));
    return _mm512_cvtepi32_epi8(_mm512_add_epi32(_mm512_cvtps_epi32(v), _mm512_set1_epi32(q->zero)));
}

AVERAGE_INLINE void totals_put(uint8_t *out, struct totals t, const struct average *q, const struct average_pixel *p)
{
    _mm_storeu_si128((__m128i *)out, rounded(t.low, q, p));
    _mm_storeu_si128((__m128i *)(out + 16), rounded(t.high, q, p));
}

void pool_i8_average64__avx512(const struct ig_call *call, struct ig_range range, void *scratch)
{
    (void)scratch;
    average_bytes(call, range);
}
