/* Affine functions of quantised tensors, common/quant_affine.h. */
#include <immintrin.h>

#include "kernels_cpu/avx512/kernels.h"
#include "kernels_cpu/common/quant_affine.h"

static void run(uint8_t *y, const uint8_t *x, const float *scale, const float *offset, int64_t n, const struct ig_quant_affine *q)
{
    const __m512 low = _mm512_set1_ps(q->low), high = _mm512_set1_ps(q->high);
    const __m512i zero = _mm512_set1_epi32(q->zero);
    const int x_signed = q->x_signed;
    for (int64_t i = 0; i < n; i += 16) {
        __m128i bytes = _mm_loadu_si128((const __m128i *)(x + i));
        __m512 v = _mm512_cvtepi32_ps(x_signed ? _mm512_cvtepi8_epi32(bytes) : _mm512_cvtepu8_epi32(bytes));
        v = _mm512_fmadd_ps(v, _mm512_loadu_ps(scale + i), _mm512_loadu_ps(offset + i));
        v = _mm512_min_ps(_mm512_max_ps(v, low), high); /* NaN becomes the lower bound */
        _mm_storeu_si128((__m128i *)(y + i), _mm512_cvtepi32_epi8(_mm512_add_epi32(_mm512_cvtps_epi32(v), zero)));
    }
}

void qlinear_affine_i8_16__avx512(const struct ig_call *call, struct ig_range range, void *scratch)
{
    (void)scratch;
    ig_quant_affine_rows(call, range, run, NULL);
}
