/* Affine functions of quantised tensors, common/quant_affine.h. */
#include <immintrin.h>

#include "kernels_cpu/avx2/kernels.h"
#include "kernels_cpu/common/quant_affine.h"

#define INLINE static inline __attribute__((always_inline))

/* Eight, rounded; NaN becomes the lower bound. */
INLINE __m256i eight(const uint8_t *x, const float *scale, const float *offset, const struct ig_quant_affine *q)
{
    __m128i bytes = _mm_loadl_epi64((const __m128i *)x);
    __m256 v = _mm256_cvtepi32_ps(q->x_signed ? _mm256_cvtepi8_epi32(bytes) : _mm256_cvtepu8_epi32(bytes));
    v = _mm256_fmadd_ps(v, _mm256_loadu_ps(scale), _mm256_loadu_ps(offset));
    return _mm256_cvtps_epi32(_mm256_min_ps(_mm256_max_ps(v, _mm256_set1_ps(q->low)), _mm256_set1_ps(q->high)));
}

static void run(uint8_t *y, const uint8_t *x, const float *scale, const float *offset, int64_t n, const struct ig_quant_affine *q)
{
    const struct ig_quant_affine own = *q; /* which no store changes */
    const __m256i zero = _mm256_set1_epi16((int16_t)q->zero);
    for (int64_t i = 0; i < n; i += 16) {
        __m256i words = _mm256_packs_epi32(eight(x + i, scale + i, offset + i, &own), eight(x + i + 8, scale + i + 8, offset + i + 8, &own));
        words = _mm256_permute4x64_epi64(_mm256_add_epi16(words, zero), 0xd8);
        __m128i low = _mm256_castsi256_si128(words), high = _mm256_extracti128_si256(words, 1);
        __m128i bytes = own.is_signed ? _mm_packs_epi16(low, high) : _mm_packus_epi16(low, high);
        _mm_storeu_si128((__m128i *)(y + i), bytes);
    }
}

void qlinear_affine_i8_16__avx2(const struct ig_call *call, struct ig_range range, void *scratch)
{
    (void)scratch;
    ig_quant_affine_rows(call, range, run);
}
