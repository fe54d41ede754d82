/* Average pooling of bytes, common/average_bytes.inc. */
#include <immintrin.h>

#include "kernels_cpu/avx512/kernels.h"

enum { WIDE = 64, HALF = 32 };

#define INLINE static inline __attribute__((always_inline))

#include "kernels_cpu/common/average_bytes.inc"

struct sums {                    /* of 32 channels a vector */
    __m512i words[2];            /* of up to AVERAGE_TERMS taps */
    __m512i all[2][2];           /* of those before */
};

INLINE void add_words(struct sums *s, const int vectors)
{
    for (int i = 0; i < vectors; i++) {
        __m512i low = _mm512_cvtepu16_epi32(_mm512_castsi512_si256(s->words[i]));
        __m512i high = _mm512_cvtepu16_epi32(_mm512_extracti64x4_epi64(s->words[i], 1));
        s->all[i][0] = _mm512_add_epi32(s->all[i][0], low);
        s->all[i][1] = _mm512_add_epi32(s->all[i][1], high);
        s->words[i] = _mm512_setzero_si512();
    }
}

/* n taps of a row. */
INLINE void add_taps(struct sums *s, const uint8_t *p, int32_t n, int64_t step, __m256i flip, const int vectors)
{
    for (int32_t j = 0; j < n; j++, p += step)
        for (int i = 0; i < vectors; i++) {
            __m256i x = _mm256_xor_si256(_mm256_loadu_si256((const __m256i *)(p + 32 * i)), flip);
            s->words[i] = _mm512_add_epi16(s->words[i], _mm512_cvtepu8_epi16(x));
        }
}

/* Sixteen of y; NaN becomes the lower bound. */
INLINE __m128i rounded(__m512i sum, float divisor, const struct average *q)
{
    __m512 v = _mm512_div_ps(_mm512_mul_ps(_mm512_cvtepi32_ps(sum), _mm512_set1_ps(q->scale)), _mm512_set1_ps(divisor));
    v = _mm512_min_ps(_mm512_max_ps(v, _mm512_set1_ps(q->low)), _mm512_set1_ps(q->high));
    return _mm512_cvtepi32_epi8(_mm512_add_epi32(_mm512_cvtps_epi32(v), _mm512_set1_epi32(q->zero)));
}

INLINE void some(const struct ig_pool_view *v, int32_t c, uint8_t *out, const struct average *q, const int vectors)
{
    const __m512i bias = _mm512_set1_epi32(average_bias(v, q));
    const __m256i flip = _mm256_set1_epi8((char)q->flip);
    const int64_t step = v->dw * v->in->pixel_stride;
    int32_t taken = 0; /* taps in 16 bits */
    struct sums s = {0};
    for (int32_t i = 0; i < v->rows; i++) {
        const uint8_t *p = (const uint8_t *)ig_row(v->in, v->y + i * v->dh, 1) + v->x * v->in->pixel_stride + c;
        for (int32_t left = v->columns, n; left; left -= n, p += n * step) {
            n = left < AVERAGE_TERMS - taken ? left : AVERAGE_TERMS - taken;
            add_taps(&s, p, n, step, flip, vectors);
            taken += n;
            if (taken < AVERAGE_TERMS) continue;
            add_words(&s, vectors);
            taken = 0;
        }
    }
    add_words(&s, vectors);
    for (int i = 0; i < 2 * vectors; i++)
        _mm_storeu_si128((__m128i *)(out + 16 * i), rounded(_mm512_sub_epi32(s.all[i / 2][i % 2], bias), v->divisor, q));
}

void pool_i8_average64__avx512(const struct ig_call *call, struct ig_range range, void *scratch)
{
    (void)scratch;
    average_bytes(call, range);
}
