/* Sums and products of quantised operands, common/quant_binary.h, sixty-four at a time. */
#include "kernels_cpu/avx512/kernels.h"
#include "kernels_cpu/avx512/put_bytes.h"
#include "kernels_cpu/common/quant_binary.h"

#define INLINE static inline __attribute__((always_inline))

INLINE __m512i wide(const uint8_t *from, int is_signed)
{
    __m128i bytes = _mm_loadu_si128((const __m128i *)from);
    return is_signed ? _mm512_cvtepi8_epi32(bytes) : _mm512_cvtepu8_epi32(bytes);
}

INLINE __m512 sum(__m512i a, __m512i b, const struct ig_quant_binary *q)
{
    __m512 v = _mm512_fmadd_ps(_mm512_cvtepi32_ps(b), _mm512_set1_ps(q->b), _mm512_set1_ps(q->k));
    return _mm512_fmadd_ps(_mm512_cvtepi32_ps(a), _mm512_set1_ps(q->a), v);
}

INLINE __m512 product(__m512i a, __m512i b, const struct ig_quant_binary *q)
{
    a = _mm512_sub_epi32(a, _mm512_set1_epi32(q->a_zero));
    b = _mm512_sub_epi32(b, _mm512_set1_epi32(q->b_zero));
    return _mm512_mul_ps(_mm512_cvtepi32_ps(_mm512_mullo_epi32(a, b)), _mm512_set1_ps(q->product));
}

/* Sixteen, rounded; NaN becomes the lower bound. */
INLINE __m512i sixteen(const uint8_t *a, const uint8_t *b, const struct ig_quant_binary *q, const int is_product)
{
    __m512i x = wide(a, q->a_signed), y = wide(b, q->b_signed);
    __m512 v = is_product ? product(x, y, q) : sum(x, y, q);
    if (!q->narrows) v = _mm512_min_ps(_mm512_max_ps(v, _mm512_set1_ps(q->low)), _mm512_set1_ps(q->high));
    return _mm512_cvtps_epi32(v);
}

INLINE void all(uint8_t *y, const uint8_t *a, const uint8_t *b, int64_t n, const struct ig_quant_binary *q, const int is_product)
{
    const struct ig_bytes_head to = {.y_zero = q->zero, .low = q->least, .high = q->most, .is_signed_out = q->is_signed,
                                     .plain = !q->is_signed && q->least == 0 && q->most == 255};
    int64_t i = 0;
    for (; i + 64 <= n; i += 64) {
        __m512i v = ig_bytes_narrowed(sixteen(a + i, b + i, q, is_product), sixteen(a + i + 16, b + i + 16, q, is_product),
                                      sixteen(a + i + 32, b + i + 32, q, is_product), sixteen(a + i + 48, b + i + 48, q, is_product), &to);
        _mm512_storeu_si512(y + i, v);
    }
    for (; i < n; i += 16) {
        __m512i v = sixteen(a + i, b + i, q, is_product);
        _mm_storeu_si128((__m128i *)(y + i), _mm512_castsi512_si128(ig_bytes_narrowed(v, v, v, v, &to)));
    }
}

static void run(uint8_t *y, const uint8_t *a, const uint8_t *b, int64_t n, const struct ig_quant_binary *q)
{
    const struct ig_quant_binary own = *q; /* which no store changes */
    if (q->is_product) all(y, a, b, n, &own, 1);
    else all(y, a, b, n, &own, 0);
}

void qlinear_binary_i8_16__avx512(const struct ig_call *call, struct ig_range range, void *scratch)
{
    (void)scratch;
    ig_quant_binary_rows(call, range, run, NULL);
}
