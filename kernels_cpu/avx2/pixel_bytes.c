/*
 * Convolution of quantised numbers to one pixel, by a window that is the image: weights, each used once, stay bytes until they are multiplied,
 * as they take longer to read than to widen. Packed weights: struct ig_bytes_head, then
 *   [panel of 16 channels] { bias[16], scale[16], i8 w[pair of k][16][2] }
 * where k = tap * ic + channel; pairs are even in number, channels past the end zero.
 */
#include "kernels_cpu/avx2/conv_bytes.h"
#include "kernels_cpu/avx2/kernels.h"

enum { NR = IG_BYTES_PIXEL_NR, LINE = 16 };

#define INLINE static inline __attribute__((always_inline))

/* x - x_zero of n channels; up to 15 numbers more are written. */
static void widen(const struct ig_bytes_head *head, const uint8_t *from, int32_t n, int16_t *to)
{
    const __m256i zero = _mm256_set1_epi16((int16_t)head->x_zero);
    for (int32_t i = 0; i < n; i += LINE) {
        const __m128i x = i + LINE <= n ? _mm_loadu_si128((const __m128i *)(from + i)) : ig_bytes_load_some(from + i, n - i);
        _mm256_storeu_si256((__m256i *)(to + i), _mm256_sub_epi16(ig_bytes_widened(x, head->is_signed), zero));
    }
}

INLINE __m256i plus_products(__m256i sums, const int16_t *x, const int8_t *w)
{
    int32_t pair;
    __builtin_memcpy(&pair, x, sizeof pair);
    return _mm256_add_epi32(sums, _mm256_madd_epi16(_mm256_set1_epi32(pair), _mm256_cvtepi8_epi16(_mm_loadu_si128((const __m128i *)w))));
}

static void sums_of(const int32_t *panel, const int16_t *x, int64_t pairs, int32_t *sums)
{
    const int8_t *w = (const int8_t *)(panel + 2 * NR);
    __m256i low = _mm256_loadu_si256((const __m256i *)panel), high = _mm256_loadu_si256((const __m256i *)(panel + 8));
    __m256i odd_low = _mm256_setzero_si256(), odd_high = odd_low;
    for (int64_t k = 0; k < pairs; k += 2, x += 4, w += 4 * NR) {
        low = plus_products(low, x, w);
        high = plus_products(high, x, w + NR);
        odd_low = plus_products(odd_low, x + 2, w + 2 * NR);
        odd_high = plus_products(odd_high, x + 2, w + 3 * NR);
    }
    _mm256_storeu_si256((__m256i *)sums, _mm256_add_epi32(low, odd_low));
    _mm256_storeu_si256((__m256i *)(sums + 8), _mm256_add_epi32(high, odd_high));
}

void qlinear_conv_i8_pixel16__avx2(const struct ig_call *call, struct ig_range range, void *scratch)
{
    const struct ig_operand *in = &call->in[0], *out = &call->out[0];
    const struct ig_bytes_head *head = (const struct ig_bytes_head *)call->weights;
    const int64_t k = (int64_t)in->h * in->w * in->c;
    int16_t *x = (int16_t *)scratch;
    for (int32_t i = 0; i < in->h * in->w; i++) /* what is behind the last pixel's is multiplied by zero */
        widen(head, (const uint8_t *)ig_row(in, i / in->w, 1) + i % in->w * in->pixel_stride, in->c, x + (int64_t)i * in->c);
    for (int32_t c = range.c0; c < range.c1; c += NR) {
        const int32_t *panel = (const int32_t *)((const char *)(head + 1) + c / NR * ig_bytes_pixel_panel(k));
        const int32_t n = range.c1 - c < NR ? range.c1 - c : NR;
        int32_t sums[NR];
        sums_of(panel, x, ig_bytes_pixel_pairs(k), sums);
        if (ig_bytes_are_floats(call)) {
            ig_bytes_put_floats((float *)ig_row(out, 0, sizeof(float)) + c, sums, (const float *)panel + NR, n);
            continue;
        }
        uint8_t *to = (uint8_t *)ig_row(out, 0, 1);
        ig_bytes_put_avx2(&to, c, 1, sums, NR, (const float *)panel + NR, n, head);
    }
}
