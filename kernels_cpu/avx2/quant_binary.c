/* Sums and products of quantised operands, common/quant_binary.h. */
#include <immintrin.h>

#include "kernels_cpu/avx2/kernels.h"
#include "kernels_cpu/common/quant_binary.h"

#define INLINE static inline __attribute__((always_inline))

INLINE __m256 real(const uint8_t *from, const struct ig_quant_operand *o)
{
    __m128i bytes = _mm_loadl_epi64((const __m128i *)from);
    __m256i wide = o->is_signed ? _mm256_cvtepi8_epi32(bytes) : _mm256_cvtepu8_epi32(bytes);
    return _mm256_mul_ps(_mm256_cvtepi32_ps(_mm256_sub_epi32(wide, _mm256_set1_epi32(o->zero))), _mm256_set1_ps(o->scale));
}

/* NaN becomes the lower bound. */
INLINE __m256 clamped(__m256 y, const struct ig_quant_binary *q)
{
    return _mm256_min_ps(_mm256_max_ps(y, _mm256_set1_ps(q->low)), _mm256_set1_ps(q->high));
}

INLINE __m256i eight(const uint8_t *a, const uint8_t *b, const struct ig_quant_binary *q)
{
    __m256 fa = real(a, &q->a), fb = real(b, &q->b), v = q->product ? _mm256_mul_ps(fa, fb) : _mm256_add_ps(fa, fb);
    __m256 y = clamped(_mm256_mul_ps(v, _mm256_set1_ps(q->reciprocal)), q);
    __m256 off = _mm256_andnot_ps(_mm256_set1_ps(-0.0f), _mm256_sub_ps(y, _mm256_round_ps(y, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC)));
    if (__builtin_expect(_mm256_movemask_ps(_mm256_cmp_ps(off, _mm256_set1_ps(IG_QUANT_SURE), _CMP_GT_OQ)) || !(q->reciprocal > 0), 0))
        y = clamped(_mm256_div_ps(v, _mm256_set1_ps(q->scale)), q);
    return _mm256_and_si256(_mm256_add_epi32(_mm256_cvtps_epi32(y), _mm256_set1_epi32(q->zero)), _mm256_set1_epi32(0xff));
}

static void run(uint8_t *y, const uint8_t *a, const uint8_t *b, int64_t n, const struct ig_quant_binary *q)
{
    const struct ig_quant_binary own = *q; /* which no store changes */
    for (int64_t i = 0; i < n; i += 16) {
        __m256i words = _mm256_permute4x64_epi64(_mm256_packus_epi32(eight(a + i, b + i, &own), eight(a + i + 8, b + i + 8, &own)), 0xd8);
        _mm_storeu_si128((__m128i *)(y + i), _mm_packus_epi16(_mm256_castsi256_si128(words), _mm256_extracti128_si256(words, 1)));
    }
}

void qlinear_binary_i8_16__avx2(const struct ig_call *call, struct ig_range range, void *scratch)
{
    (void)scratch;
    ig_quant_binary_rows(call, range, run);
}
