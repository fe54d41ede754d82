/* Floats to numbers of 8 bits and back, common/quantize.h. */
#include <immintrin.h>

#include "kernels_cpu/avx2/kernels.h"
#include "kernels_cpu/common/quantize.h"

/* Eight outputs, of which the lower 8 bits count. The bounds come before the rounding, which keeps integers; NaN is the lower. */
static inline __m256i eight(const float *x, const struct ig_quantization *q)
{
    __m256 y = _mm256_div_ps(_mm256_loadu_ps(x), _mm256_set1_ps(q->scale));
    y = _mm256_min_ps(_mm256_max_ps(y, _mm256_set1_ps(q->low)), _mm256_set1_ps(q->high));
    return _mm256_and_si256(_mm256_add_epi32(_mm256_cvtps_epi32(y), _mm256_set1_epi32(q->zero)), _mm256_set1_epi32(0xff));
}

static void quantize(uint8_t *y, const float *x, int64_t n, const struct ig_quantization *q)
{
    const struct ig_quantization own = *q; /* which no store changes */
    for (int64_t i = 0; i < n; i += 16) {
        __m256i words = _mm256_permute4x64_epi64(_mm256_packus_epi32(eight(x + i, &own), eight(x + i + 8, &own)), 0xd8);
        __m128i bytes = _mm_packus_epi16(_mm256_castsi256_si128(words), _mm256_extracti128_si256(words, 1));
        _mm_storeu_si128((__m128i *)(y + i), bytes);
    }
}

static inline void dequantize_eight(float *y, const uint8_t *x, const struct ig_quantization *q)
{
    __m128i bytes = _mm_loadl_epi64((const __m128i *)x);
    __m256i wide = q->is_signed ? _mm256_cvtepi8_epi32(bytes) : _mm256_cvtepu8_epi32(bytes);
    __m256 number = _mm256_cvtepi32_ps(_mm256_sub_epi32(wide, _mm256_set1_epi32(q->zero)));
    _mm256_storeu_ps(y, _mm256_mul_ps(number, _mm256_set1_ps(q->scale)));
}

static void dequantize(float *y, const uint8_t *x, int64_t n, const struct ig_quantization *q)
{
    const struct ig_quantization own = *q;
    for (int64_t i = 0; i < n; i += 8) dequantize_eight(y + i, x + i, &own);
}

void quantize_f32_8__avx2(const struct ig_call *call, struct ig_range range, void *scratch)
{
    (void)scratch;
    ig_quantize_rows(call, range, quantize);
}

void dequantize_f32_8__avx2(const struct ig_call *call, struct ig_range range, void *scratch)
{
    (void)scratch;
    ig_dequantize_rows(call, range, dequantize);
}
