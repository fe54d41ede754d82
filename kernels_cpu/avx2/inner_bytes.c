/*
 * Convolution of quantised numbers, common/conv_bytes.h, by Winograd's inner product of numbers of 16 bits: words x y of a pixel by words w v of
 * 16 channels are
 *   sum += vpmaddwd(x + v, y + w)        x w + y v, and x y + w v, which the pixel and the weights have too much
 * Tiles of 4 pixels by 16 channels: 8 sums, four vectors of weights, two words of a pixel and two sums of both. There are as many instructions as
 * of words one by one, but a fourth of them, not half, are products: processors that make two of these a cycle, and more additions, take less time.
 */

/* Two words of a pixel by those of weights in ymm8 .. ymm11, to its sums. */
#define PIXEL(from, low, high) \
    "vpbroadcastd (%[" from "],%[k]), %%ymm12\n\t" \
    "vpbroadcastd 4(%[" from "],%[k]), %%ymm13\n\t" \
    "vpaddw %%ymm10, %%ymm12, %%ymm14\n\t" \
    "vpaddw %%ymm11, %%ymm12, %%ymm12\n\t" \
    "vpaddw %%ymm8, %%ymm13, %%ymm15\n\t" \
    "vpaddw %%ymm9, %%ymm13, %%ymm13\n\t" \
    "vpmaddwd %%ymm14, %%ymm15, %%ymm15\n\t" \
    "vpmaddwd %%ymm12, %%ymm13, %%ymm13\n\t" \
    "vpaddd %%ymm15, %[" low "], %[" low "]\n\t" \
    "vpaddd %%ymm13, %[" high "], %[" high "]\n\t"

#define START ""
#define LOAD \
    "vmovdqu (%[w]), %%ymm8\n\t" \
    "vmovdqu 32(%[w]), %%ymm9\n\t" \
    "vmovdqu 64(%[w]), %%ymm10\n\t" \
    "vmovdqu 96(%[w]), %%ymm11\n\t"

#include "kernels_cpu/avx2/four_bytes.inc"
#include "kernels_cpu/avx2/word_bytes.h"

INLINE void add_some(const struct ig_bytes_pixels *p, const int rows, const int32_t *w, struct sums *s)
{
    const int32_t *end = w + p->words * NR;
    for (const char *at = p->at; w < end; w += 2 * NR, at += 8) {
        const __m256i *of = (const __m256i *)w;
        const __m256i low = _mm256_loadu_si256(of), high = _mm256_loadu_si256(of + 1);
        const __m256i other_low = _mm256_loadu_si256(of + 2), other_high = _mm256_loadu_si256(of + 3);
#pragma GCC unroll 2
        for (int i = 0; i < rows; i++) {
            const __m256i x = ig_word_at(at + i * p->step), y = ig_word_at(at + i * p->step + 4);
            s->v[i][0] = _mm256_add_epi32(s->v[i][0], _mm256_madd_epi16(_mm256_add_epi16(x, other_low), _mm256_add_epi16(y, low)));
            s->v[i][1] = _mm256_add_epi32(s->v[i][1], _mm256_madd_epi16(_mm256_add_epi16(x, other_high), _mm256_add_epi16(y, high)));
        }
    }
}

INLINE void sum(const struct ig_bytes_pixels *p, const int rows, const int32_t *panel, struct sums *s)
{
#pragma GCC unroll 4
    for (int i = 0; i < rows; i++) {
        const __m256i x = _mm256_set1_epi32(p->x[i]);
        s->v[i][0] = _mm256_sub_epi32(_mm256_loadu_si256((const __m256i *)panel), x);
        s->v[i][1] = _mm256_sub_epi32(_mm256_loadu_si256((const __m256i *)(panel + 8)), x);
    }
    if (rows == MR && p->words) add_four(p, panel + 2 * NR, s);
    else add_some(p, rows, panel + 2 * NR, s);
}

#include "kernels_cpu/avx2/tiles_bytes.inc"

#include "kernels_cpu/avx2/kernels.h"
#include "kernels_cpu/avx2/sums_floats.h"

static inline void fill(void *to, const uint8_t *from, int64_t n, const struct ig_bytes_head *head)
{
    ig_bytes_widen_avx2(to, from, n, head);
}

/* x y of so many words of a pixel, x y x y ... */
static int32_t inner(const void *from, int64_t words)
{
    const char *at = (const char *)from, *end = at + 4 * words;
    __m256i sums = _mm256_setzero_si256(); /* each is there twice */
    for (; at + 32 <= end; at += 32) {
        const __m256i x = _mm256_loadu_si256((const __m256i *)at);
        sums = _mm256_add_epi32(sums, _mm256_madd_epi16(x, _mm256_shuffle_epi32(x, 0xb1)));
    }
    __m128i two = _mm_add_epi32(_mm256_castsi256_si128(sums), _mm256_extracti128_si256(sums, 1));
    for (; at < end; at += 8) {
        const __m128i x = _mm_loadl_epi64((const __m128i *)at);
        two = _mm_add_epi32(two, _mm_madd_epi16(x, _mm_shuffle_epi32(x, 0xe1)));
    }
    return _mm_cvtsi128_si32(_mm_add_epi32(two, _mm_unpackhi_epi64(two, two)));
}

#define INNER(from, words) inner(from, words)
#include "kernels_cpu/common/conv_bytes.inc"

void qlinear_conv_i8_inner4x16__avx2(const struct ig_call *call, struct ig_range range, void *scratch)
{
    conv_bytes(call, range, scratch, &ig_bytes_inner);
}

void conv_integer_i8_inner4x16__avx2(const struct ig_call *call, struct ig_range range, void *scratch)
{
    run_bytes(call, range, scratch, &ig_bytes_inner, ig_bytes_floats_avx2);
}

void matmul_integer_i8_inner4x16__avx2(const struct ig_call *call, struct ig_range range, void *scratch)
{
    product_bytes(call, range, scratch, &ig_bytes_inner, ig_bytes_floats_avx2);
}
