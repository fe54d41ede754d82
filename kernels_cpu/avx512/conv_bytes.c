/* Convolution of quantised numbers by pairs of 16 bits: avx2/conv_bytes.c, twice as wide. */
#define DOT(sum, x, w) _mm512_add_epi32(sum, _mm512_madd_epi16(x, w))
#include "kernels_cpu/avx512/conv_bytes.inc"

#include "kernels_cpu/avx512/kernels.h"
#include "kernels_cpu/avx512/sums_floats.h"

static inline void fill(void *to, const uint8_t *from, int64_t n, const struct ig_bytes_head *head)
{
    const __m512i zero = _mm512_set1_epi16((int16_t)head->x_zero);
    int16_t *p = (int16_t *)to;
    for (int64_t i = 0; i < n; i += 32) {
        const __mmask32 there = n - i < 32 ? (1u << (n - i)) - 1 : 0xffffffffu;
        const __m256i x = _mm256_maskz_loadu_epi8(there, from + i);
        const __m512i wide = head->is_signed ? _mm512_cvtepi8_epi16(x) : _mm512_cvtepu8_epi16(x);
        _mm512_storeu_si512(p + i, _mm512_sub_epi16(wide, zero));
    }
}

#include "kernels_cpu/common/conv_bytes.inc"

void qlinear_conv_i8_12x32__avx512(const struct ig_call *call, struct ig_range range, void *scratch)
{
    conv_bytes(call, range, scratch, &ig_bytes_avx512);
}

void conv_integer_i8_12x32__avx512(const struct ig_call *call, struct ig_range range, void *scratch)
{
    run_bytes(call, range, scratch, &ig_bytes_avx512, ig_bytes_floats_avx512);
}

void matmul_integer_i8_12x32__avx512(const struct ig_call *call, struct ig_range range, void *scratch)
{
    product_bytes(call, range, scratch, &ig_bytes_avx512, ig_bytes_floats_avx512);
}
