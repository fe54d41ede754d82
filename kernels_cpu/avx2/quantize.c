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

static float least_of(__m256 v)
{
    __m128 four = _mm_min_ps(_mm256_castps256_ps128(v), _mm256_extractf128_ps(v, 1));
    four = _mm_min_ps(four, _mm_movehl_ps(four, four));
    return _mm_cvtss_f32(_mm_min_ss(four, _mm_movehdup_ps(four)));
}

static float largest_of(__m256 v)
{
    __m128 four = _mm_max_ps(_mm256_castps256_ps128(v), _mm256_extractf128_ps(v, 1));
    four = _mm_max_ps(four, _mm_movehl_ps(four, four));
    return _mm_cvtss_f32(_mm_max_ss(four, _mm_movehdup_ps(four)));
}

/* Where one of two is no number the instructions take the second. */
static void extremes(const float *x, int64_t n, float *low, float *high)
{
    __m256 least[2] = {_mm256_set1_ps(*low), _mm256_set1_ps(*low)}, most[2] = {_mm256_set1_ps(*high), _mm256_set1_ps(*high)};
    for (int64_t i = 0; i < n; i += 16) {
        const __m256 a = _mm256_loadu_ps(x + i), b = _mm256_loadu_ps(x + i + 8);
        least[0] = _mm256_min_ps(a, least[0]), least[1] = _mm256_min_ps(b, least[1]);
        most[0] = _mm256_max_ps(a, most[0]), most[1] = _mm256_max_ps(b, most[1]);
    }
    *low = least_of(_mm256_min_ps(least[0], least[1]));
    *high = largest_of(_mm256_max_ps(most[0], most[1]));
}

void dynamic_quantize_f32_8__avx2(const struct ig_call *call, struct ig_range range, void *scratch)
{
    (void)range, (void)scratch;
    ig_quantize_dynamic(call, extremes, quantize);
}

void extremes_f32_8__avx2(const struct ig_call *call, struct ig_range range, void *scratch)
{
    (void)scratch;
    ig_extremes_of_parts(call, range, extremes);
}
