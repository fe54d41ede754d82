/* Sums and products of quantised operands, common/quant_binary.h, sixteen at a time. */
#include <immintrin.h>

#include "kernels_cpu/avx512/kernels.h"
#include "kernels_cpu/common/quant_binary.h"

#define INLINE static inline __attribute__((always_inline))

INLINE __m512 real(const uint8_t *from, const struct ig_quant_operand *o)
{
    __m128i bytes = _mm_loadu_si128((const __m128i *)from);
    __m512i wide = o->is_signed ? _mm512_cvtepi8_epi32(bytes) : _mm512_cvtepu8_epi32(bytes);
    return _mm512_mul_ps(_mm512_cvtepi32_ps(_mm512_sub_epi32(wide, _mm512_set1_epi32(o->zero))), _mm512_set1_ps(o->scale));
}

/* NaN becomes the lower bound. */
INLINE __m512 clamped(__m512 y, const struct ig_quant_binary *q)
{
    return _mm512_min_ps(_mm512_max_ps(y, _mm512_set1_ps(q->low)), _mm512_set1_ps(q->high));
}

INLINE __m128i sixteen(const uint8_t *a, const uint8_t *b, const struct ig_quant_binary *q)
{
    __m512 fa = real(a, &q->a), fb = real(b, &q->b), v = q->product ? _mm512_mul_ps(fa, fb) : _mm512_add_ps(fa, fb);
    __m512 y = clamped(_mm512_mul_ps(v, _mm512_set1_ps(q->reciprocal)), q);
    __m512 off = _mm512_abs_ps(_mm512_sub_ps(y, _mm512_roundscale_ps(y, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC)));
    if (__builtin_expect(_mm512_cmp_ps_mask(off, _mm512_set1_ps(IG_QUANT_SURE), _CMP_GT_OQ) || !(q->reciprocal > 0), 0))
        y = clamped(_mm512_div_ps(v, _mm512_set1_ps(q->scale)), q);
    return _mm512_cvtepi32_epi8(_mm512_add_epi32(_mm512_cvtps_epi32(y), _mm512_set1_epi32(q->zero)));
}

static void run(uint8_t *y, const uint8_t *a, const uint8_t *b, int64_t n, const struct ig_quant_binary *q)
{
    const struct ig_quant_binary own = *q; /* which no store changes */
    for (int64_t i = 0; i < n; i += 16) _mm_storeu_si128((__m128i *)(y + i), sixteen(a + i, b + i, &own));
}

void qlinear_binary_i8_16__avx512(const struct ig_call *call, struct ig_range range, void *scratch)
{
    (void)scratch;
    ig_quant_binary_rows(call, range, run);
}
