/* Depthwise convolution of quantised numbers: pairs of taps of 16 bits, whose products' sum one instruction makes exactly. */
#include "kernels_cpu/avx2/conv_bytes.h"
#include "kernels_cpu/avx2/kernels.h"
#include "kernels_cpu/avx2/sums_floats.h"
#include "kernels_cpu/common/depthwise_bytes.h"

enum { N = IG_BYTES_CHANNELS, SOME = 4 /* pixels whose sums stay in registers */, PAIR = N };

static inline __attribute__((always_inline)) __m256i load(const uint8_t *from, int32_t n, const int is_signed, const int whole)
{
    return ig_bytes_widened(whole ? _mm_loadu_si128((const __m128i *)from) : ig_bytes_load_some(from, n), is_signed);
}

/* Pixels [i, i + count). Pairs of channels 0-3 and 8-11 are in one vector, 4-7 and 12-15 in the other, as unpacking makes them. */
static inline __attribute__((always_inline)) void pixels(const struct taps *taps, int64_t c, int32_t n, const int32_t *block, const int is_signed,
                                                         const int whole, int32_t i, const int count, int32_t *sums)
{
    const int16_t *w = (const int16_t *)(block + 2 * N);
    const __m256i bias = _mm256_loadu_si256((const __m256i *)block), bias_high = _mm256_loadu_si256((const __m256i *)(block + 8));
    __m256i low[SOME], high[SOME];
#pragma GCC unroll 4
    for (int j = 0; j < count; j++) low[j] = _mm256_permute2x128_si256(bias, bias_high, 0x20), high[j] = _mm256_permute2x128_si256(bias, bias_high, 0x31);
    for (int32_t p = 0; p < taps->pairs; p++, w += 2 * N) {
        const int64_t step_a = taps->step[2 * p], step_b = taps->step[2 * p + 1];
        const uint8_t *a = taps->at[2 * p] + c + i * step_a, *b = taps->at[2 * p + 1] + c + i * step_b;
        const __m256i w0 = _mm256_loadu_si256((const __m256i *)w), w1 = _mm256_loadu_si256((const __m256i *)(w + N));
        const __m256i for_low = _mm256_permute2x128_si256(w0, w1, 0x20), for_high = _mm256_permute2x128_si256(w0, w1, 0x31);
#pragma GCC unroll 4
        for (int j = 0; j < count; j++) {
            const __m256i x = load(a + j * step_a, n, is_signed, whole), y = load(b + j * step_b, n, is_signed, whole);
            low[j] = _mm256_add_epi32(low[j], _mm256_madd_epi16(_mm256_unpacklo_epi16(x, y), for_low));
            high[j] = _mm256_add_epi32(high[j], _mm256_madd_epi16(_mm256_unpackhi_epi16(x, y), for_high));
        }
    }
#pragma GCC unroll 4
    for (int j = 0; j < count; j++) {
        _mm256_storeu_si256((__m256i *)(sums + (i + j) * N), _mm256_permute2x128_si256(low[j], high[j], 0x20));
        _mm256_storeu_si256((__m256i *)(sums + (i + j) * N + 8), _mm256_permute2x128_si256(low[j], high[j], 0x31));
    }
}

#include "kernels_cpu/common/depthwise_pixels.inc"

static void put(uint8_t *const *to, int64_t at, int32_t rows, const int32_t *sums, const float *scale, int32_t n,
                const struct ig_bytes_head *head)
{
    ig_bytes_put_avx2(to, at, rows, sums, N, scale, n, head);
}

#include "kernels_cpu/common/depthwise_bytes.inc"

void qlinear_conv_i8_depthwise16__avx2(const struct ig_call *call, struct ig_range range, void *scratch)
{
    depthwise_bytes(call, range, scratch);
}

void conv_integer_i8_depthwise16__avx2(const struct ig_call *call, struct ig_range range, void *scratch)
{
    run_depthwise(call, range, scratch, ig_bytes_floats_avx2);
}
