/* Convolution of quantised numbers, common/conv_bytes.h: pairs of 16 bits, whose products' sum one instruction makes exactly. */
#include "kernels_cpu/common/conv_bytes.h"

#include "kernels_cpu/avx2/conv_bytes.h"
#include "kernels_cpu/avx2/kernels.h"

enum { MR = 6, NR = 16 };

static inline __attribute__((always_inline)) __m256i widened(__m128i x, int is_signed)
{
    return is_signed ? _mm256_cvtepi8_epi16(x) : _mm256_cvtepu8_epi16(x);
}

/* Sixteen at a time; the last sixteen overlap what is there. */
static void fill(void *to, const uint8_t *from, int64_t n, const struct ig_bytes_head *head)
{
    const __m256i zero = _mm256_set1_epi16((int16_t)head->x_zero);
    int16_t *p = (int16_t *)to;
    if (n < 16) {
        for (int64_t i = 0; i < n; i++) p[i] = (int16_t)((head->is_signed ? (int8_t)from[i] : from[i]) - head->x_zero);
        return;
    }
    for (int64_t i = 0;; i = i + 16 < n - 16 ? i + 16 : n - 16) {
        __m256i x = widened(_mm_loadu_si128((const __m128i *)(from + i)), head->is_signed);
        _mm256_storeu_si256((__m256i *)(p + i), _mm256_sub_epi16(x, zero));
        if (i == n - 16) break;
    }
}

static inline __attribute__((always_inline)) void tile_of(const char *a, int64_t step, const int rows, const int32_t *w, int64_t words, int32_t *sums)
{
    __m256i s[MR][2];
#pragma GCC unroll 6
    for (int i = 0; i < rows; i++) s[i][0] = s[i][1] = _mm256_setzero_si256();
    for (int64_t k = 0; k < words; k++, w += NR, a += 4) {
        const __m256i low = _mm256_loadu_si256((const __m256i *)w), high = _mm256_loadu_si256((const __m256i *)(w + 8));
#pragma GCC unroll 6
        for (int i = 0; i < rows; i++) {
            int32_t word;
            __builtin_memcpy(&word, a + i * step, sizeof word);
            const __m256i x = _mm256_set1_epi32(word);
            s[i][0] = _mm256_add_epi32(s[i][0], _mm256_madd_epi16(x, low));
            s[i][1] = _mm256_add_epi32(s[i][1], _mm256_madd_epi16(x, high));
        }
    }
#pragma GCC unroll 6
    for (int i = 0; i < rows; i++) {
        _mm256_storeu_si256((__m256i *)(sums + i * NR), s[i][0]);
        _mm256_storeu_si256((__m256i *)(sums + i * NR + 8), s[i][1]);
    }
}

static void tile(const void *a, int64_t step, int32_t rows, const int32_t *w, int64_t words, int32_t *sums)
{
    switch (rows) {
    case 1: tile_of(a, step, 1, w, words, sums); break;
    case 2: tile_of(a, step, 2, w, words, sums); break;
    case 3: tile_of(a, step, 3, w, words, sums); break;
    case 4: tile_of(a, step, 4, w, words, sums); break;
    case 5: tile_of(a, step, 5, w, words, sums); break;
    default: tile_of(a, step, MR, w, words, sums); break;
    }
}

static const struct ig_bytes_set set = {{MR, NR, 2, 1, IG_BYTES_TO_UNSIGNED}, fill, tile, ig_bytes_put_avx2};

void qlinear_conv_i8_6x16__avx2(const struct ig_call *call, struct ig_range range, void *scratch)
{
    ig_bytes_conv(call, range, scratch, &set);
}

/* --- depthwise --- */

/* n bytes, which may be all that there is. */
static inline __m128i load_some(const uint8_t *from, int32_t n)
{
    uint8_t room[IG_BYTES_CHANNELS] = {0};
    for (int32_t i = 0; i < n; i++) room[i] = from[i];
    return _mm_loadu_si128((const __m128i *)room);
}

/* Pairs of taps' channels 0-3 and 8-11 in one vector, 4-7 and 12-15 in the other, as the weights. */
static inline __attribute__((always_inline)) void depthwise_of(const uint8_t *const *in, int64_t c, int32_t n, const int16_t *w, int32_t pairs,
                                                               const int is_signed, const int whole, int32_t *sums)
{
    __m256i low = _mm256_setzero_si256(), high = low;
    for (int32_t p = 0; p < pairs; p++, w += 2 * IG_BYTES_CHANNELS) {
        const uint8_t *a = in[2 * p] + c, *b = in[2 * p + 1] + c;
        const __m256i x = widened(whole ? _mm_loadu_si128((const __m128i *)a) : load_some(a, n), is_signed);
        const __m256i y = widened(whole ? _mm_loadu_si128((const __m128i *)b) : load_some(b, n), is_signed);
        const __m256i first = _mm256_loadu_si256((const __m256i *)w), second = _mm256_loadu_si256((const __m256i *)(w + IG_BYTES_CHANNELS));
        low = _mm256_add_epi32(low, _mm256_madd_epi16(_mm256_unpacklo_epi16(x, y), _mm256_permute2x128_si256(first, second, 0x20)));
        high = _mm256_add_epi32(high, _mm256_madd_epi16(_mm256_unpackhi_epi16(x, y), _mm256_permute2x128_si256(first, second, 0x31)));
    }
    _mm256_storeu_si256((__m256i *)sums, _mm256_permute2x128_si256(low, high, 0x20));
    _mm256_storeu_si256((__m256i *)(sums + 8), _mm256_permute2x128_si256(low, high, 0x31));
}

static void depthwise(const uint8_t *const *in, int64_t c, int32_t n, const int16_t *w, int32_t pairs, int is_signed, int32_t *sums)
{
    const int whole = n == IG_BYTES_CHANNELS;
    if (is_signed && whole) depthwise_of(in, c, n, w, pairs, 1, 1, sums);
    else if (is_signed) depthwise_of(in, c, n, w, pairs, 1, 0, sums);
    else if (whole) depthwise_of(in, c, n, w, pairs, 0, 1, sums);
    else depthwise_of(in, c, n, w, pairs, 0, 0, sums);
}

static const struct ig_bytes_depthwise depthwise_set = {depthwise, ig_bytes_put_avx2};

void qlinear_conv_i8_depthwise16__avx2(const struct ig_call *call, struct ig_range range, void *scratch)
{
    ig_bytes_depthwise(call, range, scratch, &depthwise_set);
}
