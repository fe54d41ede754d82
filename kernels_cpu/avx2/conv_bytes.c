/* Convolution of quantised numbers, common/conv_bytes.h: pairs of 16 bits, whose products' sum one instruction makes exactly. */
#include "kernels_cpu/avx2/conv_bytes.h"
#include "kernels_cpu/avx2/kernels.h"

enum { MR = 6, NR = 16 };

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

static inline __attribute__((always_inline)) void tile_of(const struct ig_bytes_pixels *p, const int rows, const int32_t *panel, int32_t *sums)
{
    const char *a = p->at;
    const int64_t step = p->step, words = p->words;
    const int32_t *w = panel + 2 * NR;
    __m256i s[MR][2];
#pragma GCC unroll 6
    for (int i = 0; i < rows; i++) {
        s[i][0] = _mm256_loadu_si256((const __m256i *)panel);
        s[i][1] = _mm256_loadu_si256((const __m256i *)(panel + 8));
    }
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

static void tile(const struct ig_bytes_pixels *a, int32_t rows, const int32_t *panel, int32_t *sums)
{
    switch (rows) {
    case 1: tile_of(a, 1, panel, sums); break;
    case 2: tile_of(a, 2, panel, sums); break;
    case 3: tile_of(a, 3, panel, sums); break;
    case 4: tile_of(a, 4, panel, sums); break;
    case 5: tile_of(a, 5, panel, sums); break;
    default: tile_of(a, MR, panel, sums); break;
    }
}

static void put(uint8_t *const *to, int64_t at, int32_t rows, const int32_t *sums, const float *scale, int32_t n,
                const struct ig_bytes_head *head)
{
    ig_bytes_put_avx2(to, at, rows, sums, NR, scale, n, head);
}

#include "kernels_cpu/common/conv_bytes.inc"

void qlinear_conv_i8_6x16__avx2(const struct ig_call *call, struct ig_range range, void *scratch)
{
    conv_bytes(call, range, scratch, &ig_bytes_avx2);
}
