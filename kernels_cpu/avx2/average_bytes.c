/* Average pooling of bytes, common/average_bytes.inc. */
#include <immintrin.h>

#include "kernels_cpu/avx2/kernels.h"

enum { WIDE = 32, HALF = 16 };

#define INLINE static inline __attribute__((always_inline))

#include "kernels_cpu/common/average_bytes.inc"

struct sums {                    /* of 16 channels a vector */
    __m256i words[2];            /* of up to AVERAGE_TERMS taps */
    __m256i all[2][2];           /* of those before */
};

INLINE void add_words(struct sums *s, const int vectors)
{
    for (int i = 0; i < vectors; i++) {
        __m256i low = _mm256_cvtepu16_epi32(_mm256_castsi256_si128(s->words[i]));
        __m256i high = _mm256_cvtepu16_epi32(_mm256_extracti128_si256(s->words[i], 1));
        s->all[i][0] = _mm256_add_epi32(s->all[i][0], low);
        s->all[i][1] = _mm256_add_epi32(s->all[i][1], high);
        s->words[i] = _mm256_setzero_si256();
    }
}

/* n taps of a row. */
INLINE void add_taps(struct sums *s, const uint8_t *p, int32_t n, int64_t step, __m128i flip, const int vectors)
{
    for (int32_t j = 0; j < n; j++, p += step)
        for (int i = 0; i < vectors; i++) {
            __m128i x = _mm_xor_si128(_mm_loadu_si128((const __m128i *)(p + 16 * i)), flip);
            s->words[i] = _mm256_add_epi16(s->words[i], _mm256_cvtepu8_epi16(x));
        }
}

/* Eight, rounded; NaN becomes the lower bound. */
INLINE __m256i rounded(__m256i sum, float divisor, const struct average *q)
{
    __m256 v = _mm256_div_ps(_mm256_mul_ps(_mm256_cvtepi32_ps(sum), _mm256_set1_ps(q->scale)), _mm256_set1_ps(divisor));
    return _mm256_cvtps_epi32(_mm256_min_ps(_mm256_max_ps(v, _mm256_set1_ps(q->low)), _mm256_set1_ps(q->high)));
}

INLINE void some(const struct ig_pool_view *v, int32_t c, uint8_t *out, const struct average *q, const int vectors)
{
    const __m256i bias = _mm256_set1_epi32(average_bias(v, q)), zero = _mm256_set1_epi16((int16_t)q->zero);
    const __m128i flip = _mm_set1_epi8((char)q->flip);
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
    for (int i = 0; i < vectors; i++) {
        __m256i low = rounded(_mm256_sub_epi32(s.all[i][0], bias), v->divisor, q), high = rounded(_mm256_sub_epi32(s.all[i][1], bias), v->divisor, q);
        __m256i words = _mm256_add_epi16(_mm256_permute4x64_epi64(_mm256_packs_epi32(low, high), 0xd8), zero);
        __m128i a = _mm256_castsi256_si128(words), b = _mm256_extracti128_si256(words, 1);
        _mm_storeu_si128((__m128i *)(out + 16 * i), q->is_signed ? _mm_packs_epi16(a, b) : _mm_packus_epi16(a, b));
    }
}

void pool_i8_average32__avx2(const struct ig_call *call, struct ig_range range, void *scratch)
{
    (void)scratch;
    average_bytes(call, range);
}
