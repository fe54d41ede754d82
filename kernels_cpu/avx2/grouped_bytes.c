/*
 * Convolution of quantised numbers whose groups are of few channels, common/grouped_bytes.h: pairs of 16 bits, whose products' sum one
 * instruction makes exactly.
 */
#define DOT(sum, x, w) _mm256_add_epi32(sum, _mm256_madd_epi16(x, w))
#include "kernels_cpu/avx2/grouped_bytes.inc"

#include "kernels_cpu/avx2/kernels.h"

enum { WIDE = IG_BYTES_CHUNK / 2 };

/* Eight numbers, less x_zero. */
INLINE void copy_eight(char *to, const uint8_t *from, const int is_signed, __m128i zero)
{
    const __m128i x = _mm_loadl_epi64((const __m128i *)from);
    _mm_storeu_si128((__m128i *)to, _mm_sub_epi16(is_signed ? _mm_cvtepi8_epi16(x) : _mm_cvtepu8_epi16(x), zero));
}

static void copy(char *to, const uint8_t *from, int64_t step, int64_t n, int32_t width, const struct ig_bytes_head *head)
{
    const __m128i zero = _mm_set1_epi16((int16_t)head->x_zero);
    for (int64_t i = 0; i < n; i++, to += IG_BYTES_CHUNK, from += step)
        if (width == WIDE && head->is_signed) copy_eight(to, from, 1, zero);
        else if (width == WIDE) copy_eight(to, from, 0, zero);
        else
            for (int32_t c = 0; c < width; c++) {
                const int16_t x = (int16_t)((head->is_signed ? (int8_t)from[c] : from[c]) - head->x_zero);
                __builtin_memcpy(to + 2 * c, &x, sizeof x);
            }
}

void qlinear_conv_i8_grouped16__avx2(const struct ig_call *call, struct ig_range range, void *scratch)
{
    static const struct ig_bytes_grouped_set set = {&ig_bytes_grouped_avx2, MOST, tile, copy, put};
    ig_bytes_grouped(call, range, scratch, &set);
}
