/* Convolution of quantised numbers, common/conv_bytes.h: pairs of 16 bits, whose products' sum one instruction makes exactly. */
#define DOT(sum, x, w) _mm256_add_epi32(sum, _mm256_madd_epi16(x, w))
#include "kernels_cpu/avx2/conv_bytes.inc"

#include "kernels_cpu/avx2/kernels.h"
#include "kernels_cpu/avx2/sums_floats.h"

/* x - x_zero of so many. */
static inline void widen_16(int16_t *to, const uint8_t *from, int is_signed, __m256i zero)
{
    const __m256i x = ig_bytes_widened(_mm_loadu_si128((const __m128i *)from), is_signed);
    _mm256_storeu_si256((__m256i *)to, _mm256_sub_epi16(x, zero));
}

static inline void widen_8(int16_t *to, const uint8_t *from, int is_signed, __m256i zero)
{
    const __m128i x = _mm256_castsi256_si128(ig_bytes_widened(_mm_loadl_epi64((const __m128i *)from), is_signed));
    _mm_storeu_si128((__m128i *)to, _mm_sub_epi16(x, _mm256_castsi256_si128(zero)));
}

static inline void widen_4(int16_t *to, const uint8_t *from, int is_signed, __m256i zero)
{
    int32_t four;
    __builtin_memcpy(&four, from, sizeof four);
    const __m128i x = _mm256_castsi256_si128(ig_bytes_widened(_mm_cvtsi32_si128(four), is_signed));
    _mm_storel_epi64((__m128i *)to, _mm_sub_epi16(x, _mm256_castsi256_si128(zero)));
}

/* The last ones overlap what is there. */
static inline void fill(void *to, const uint8_t *from, int64_t n, const struct ig_bytes_head *head)
{
    const __m256i zero = _mm256_set1_epi16((int16_t)head->x_zero);
    const int is_signed = head->is_signed;
    int16_t *p = (int16_t *)to;
    if (n < 4) {
        for (int64_t i = 0; i < n; i++) p[i] = (int16_t)((is_signed ? (int8_t)from[i] : from[i]) - head->x_zero);
    } else if (n < 8) {
        widen_4(p, from, is_signed, zero);
        widen_4(p + n - 4, from + n - 4, is_signed, zero);
    } else if (n < 16) {
        widen_8(p, from, is_signed, zero);
        widen_8(p + n - 8, from + n - 8, is_signed, zero);
    } else {
        for (int64_t i = 0; i < n - 16; i += 16) widen_16(p + i, from + i, is_signed, zero);
        widen_16(p + n - 16, from + n - 16, is_signed, zero);
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
