/* Convolution of quantised numbers, common/conv_bytes.h: pairs of 16 bits, whose products' sum one instruction makes exactly. */
#define DOT(sum, x, w) _mm256_add_epi32(sum, _mm256_madd_epi16(x, w))
#include "kernels_cpu/avx2/conv_bytes.inc"

#include "kernels_cpu/avx2/kernels.h"
#include "kernels_cpu/avx2/sums_floats.h"

/* Sixteen at a time; the last sixteen overlap what is there. */
static inline void fill(void *to, const uint8_t *from, int64_t n, const struct ig_bytes_head *head)
{
    const __m256i zero = _mm256_set1_epi16((int16_t)head->x_zero);
    int16_t *p = (int16_t *)to;
    if (n < 16) {
        for (int64_t i = 0; i < n; i++) p[i] = (int16_t)((head->is_signed ? (int8_t)from[i] : from[i]) - head->x_zero);
        return;
    }
    for (int64_t i = 0;; i = i + 16 < n - 16 ? i + 16 : n - 16) {
        __m256i x = ig_bytes_widened(_mm_loadu_si128((const __m128i *)(from + i)), head->is_signed);
        _mm256_storeu_si256((__m256i *)(p + i), _mm256_sub_epi16(x, zero));
        if (i == n - 16) break;
    }
}

#include "kernels_cpu/common/conv_bytes.inc"

void qlinear_conv_i8_6x16__avx2(const struct ig_call *call, struct ig_range range, void *scratch)
{
    conv_bytes(call, range, scratch, &ig_bytes_avx2);
}

void conv_integer_i8_6x16__avx2(const struct ig_call *call, struct ig_range range, void *scratch)
{
    run_bytes(call, range, scratch, &ig_bytes_avx2, ig_bytes_floats_avx2);
}

void matmul_integer_i8_6x16__avx2(const struct ig_call *call, struct ig_range range, void *scratch)
{
    product_bytes(call, range, scratch, &ig_bytes_avx2, ig_bytes_floats_avx2);
}
