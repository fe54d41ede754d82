/*
 * Convolution of quantised numbers, common/conv_bytes.h, by products of bytes u8 by i8, which are added in 16 bits four at a time: two words
 * x y of a pixel by two of weights w v,
 *   sum += vpmaddwd(vpmaddubsw(x, w) + vpmaddubsw(y, v), 1)
 * No such sum leaves 16 bits, whatever weights are, where of a pixel the four numbers are IG_BYTES_SUM together at most. What is beyond is taken out
 * of its words, and multiplied in the same way by itself. Tiles of 4 pixels by 16 channels: 8 sums, ones, two vectors of weights, a word of each
 * kind, and two sums. Five instructions make 64 multiply-adds, where pairs of 16 bits take eight, and bytes that may saturate six.
 */

/* Two words of a pixel by those of weights: of the first eight channels in ymm9 and ymm10, of the others in memory; to its sums. */
#define PIXEL(from, low, high) \
    "vpbroadcastd (%[" from "],%[k]), %%ymm12\n\t" \
    "vpbroadcastd 4(%[" from "],%[k]), %%ymm13\n\t" \
    "vpmaddubsw %%ymm9, %%ymm12, %%ymm14\n\t" \
    "vpmaddubsw %%ymm10, %%ymm13, %%ymm15\n\t" \
    "vpmaddubsw 32(%[w]), %%ymm12, %%ymm12\n\t" \
    "vpmaddubsw 96(%[w]), %%ymm13, %%ymm13\n\t" \
    "vpaddw %%ymm14, %%ymm15, %%ymm14\n\t" \
    "vpaddw %%ymm12, %%ymm13, %%ymm12\n\t" \
    "vpmaddwd %%ymm8, %%ymm14, %%ymm14\n\t" \
    "vpmaddwd %%ymm8, %%ymm12, %%ymm12\n\t" \
    "vpaddd %%ymm14, %[" low "], %[" low "]\n\t" \
    "vpaddd %%ymm12, %[" high "], %[" high "]\n\t"

#define START /* ones */ \
    "vpcmpeqw %%ymm8, %%ymm8, %%ymm8\n\t" \
    "vpsrlw $15, %%ymm8, %%ymm8\n\t"
#define LOAD \
    "vmovdqu (%[w]), %%ymm9\n\t" \
    "vmovdqu 64(%[w]), %%ymm10\n\t"

#include "kernels_cpu/avx2/four_bytes.inc"
#include "kernels_cpu/avx2/word_bytes.h"

INLINE void add_some(const struct ig_bytes_pixels *p, const int rows, const int32_t *w, struct sums *s)
{
    for (int64_t k = 0; k < p->words; k += 2, w += 2 * NR) {
#pragma GCC unroll 2
        for (int i = 0; i < rows; i++) {
            const __m256i x = ig_word_at(p->at + i * p->step + 4 * k), y = ig_word_at(p->at + i * p->step + 4 * k + 4), *of = (const __m256i *)w;
            s->v[i][0] = ig_words_added(s->v[i][0], x, _mm256_loadu_si256(of), y, _mm256_loadu_si256(of + 2));
            s->v[i][1] = ig_words_added(s->v[i][1], x, _mm256_loadu_si256(of + 1), y, _mm256_loadu_si256(of + 3));
        }
    }
}

/* What is left of their words. */
static __attribute__((noinline)) void add_left(const struct ig_bytes_pixels *p, int32_t rows, const int32_t *w, struct sums *s)
{
    const __m256i one = _mm256_set1_epi16(1);
    for (int32_t i = 0; i < rows; i++) {
        const struct ig_bytes_left *left = p->left + i * p->most, *end = left + p->x[i];
        __m256i sums[2] = {s->v[i][0], s->v[i][1]};
        for (; left < end; left++) {
            const __m256i x = _mm256_set1_epi32(left->word), *of = (const __m256i *)(w + (int64_t)left->at * NR);
            sums[0] = _mm256_add_epi32(sums[0], _mm256_madd_epi16(_mm256_maddubs_epi16(x, _mm256_loadu_si256(of)), one));
            sums[1] = _mm256_add_epi32(sums[1], _mm256_madd_epi16(_mm256_maddubs_epi16(x, _mm256_loadu_si256(of + 1)), one));
        }
        s->v[i][0] = sums[0], s->v[i][1] = sums[1];
    }
}

/* Even numbers and odd ones by themselves, in 16 bits: products of two are added in 32. */
INLINE void wide_of(const struct ig_bytes_pixels *p, int32_t first, const int rows, const int32_t *w, struct sums *s)
{
    const char *at = p->at + first * p->step;
    __m256i sums[MR][2];
#pragma GCC unroll 4
    for (int i = 0; i < rows; i++) sums[i][0] = s->v[first + i][0], sums[i][1] = s->v[first + i][1];
    for (int64_t k = 0; k < p->words; k++, w += NR, at += 4) {
        const __m256i low = _mm256_loadu_si256((const __m256i *)w), high = _mm256_loadu_si256((const __m256i *)(w + 8));
        const __m256i even_low = _mm256_srai_epi16(_mm256_slli_epi16(low, 8), 8), odd_low = _mm256_srai_epi16(low, 8);
        const __m256i even_high = _mm256_srai_epi16(_mm256_slli_epi16(high, 8), 8), odd_high = _mm256_srai_epi16(high, 8);
#pragma GCC unroll 4
        for (int i = 0; i < rows; i++) {
            uint32_t word;
            __builtin_memcpy(&word, at + i * p->step, sizeof word);
            const __m256i even = _mm256_set1_epi32((int32_t)(word & 0xff00ff)), odd = _mm256_set1_epi32((int32_t)(word >> 8 & 0xff00ff));
            sums[i][0] = _mm256_add_epi32(sums[i][0], _mm256_madd_epi16(even, even_low));
            sums[i][0] = _mm256_add_epi32(sums[i][0], _mm256_madd_epi16(odd, odd_low));
            sums[i][1] = _mm256_add_epi32(sums[i][1], _mm256_madd_epi16(even, even_high));
            sums[i][1] = _mm256_add_epi32(sums[i][1], _mm256_madd_epi16(odd, odd_high));
        }
    }
#pragma GCC unroll 4
    for (int i = 0; i < rows; i++) s->v[first + i][0] = sums[i][0], s->v[first + i][1] = sums[i][1];
}

static __attribute__((noinline)) void add_wide(const struct ig_bytes_pixels *p, int32_t rows, const int32_t *w, struct sums *s)
{
    if (rows == MR) wide_of(p, 0, MR, w, s);
    for (int32_t i = 0; rows < MR && i < rows; i++) wide_of(p, i, 1, w, s);
}

INLINE void sum(const struct ig_bytes_pixels *p, const int rows, const int32_t *panel, struct sums *s)
{
    int32_t all = 0;
#pragma GCC unroll 4
    for (int i = 0; i < rows; i++) {
        s->v[i][0] = _mm256_loadu_si256((const __m256i *)panel);
        s->v[i][1] = _mm256_loadu_si256((const __m256i *)(panel + 8));
        all |= p->x[i];
    }
    if (all < 0) add_wide(p, rows, panel + 2 * NR, s);
    else if (rows == MR && p->words) add_four(p, panel + 2 * NR, s);
    else add_some(p, rows, panel + 2 * NR, s);
    if (all) add_left(p, rows, panel + 2 * NR, s);
}

#include "kernels_cpu/avx2/tiles_bytes.inc"

#include "kernels_cpu/avx2/kernels.h"

static inline void fill(void *to, const uint8_t *from, int64_t n, const struct ig_bytes_head *head)
{
    ig_bytes_fill_avx2(to, from, n, head);
}

/* Of two words, what a sum may have: of the numbers 0 1 4 5 and of 2 3 6 7, of the first word before the second. The rest stays. */
static void take(uint8_t rest[8], int32_t taken[2])
{
    uint8_t some[8];
    for (int half = 0; half < 2; half++)
        for (int i = 0, room = IG_BYTES_SUM; i < 4; i++) {
            const int at = 4 * (i / 2) + 2 * half + i % 2;
            some[at] = rest[at] < room ? rest[at] : (uint8_t)room;
            rest[at] = (uint8_t)(rest[at] - some[at]);
            room -= some[at];
        }
    __builtin_memcpy(taken, some, sizeof some);
}

/*
 * Words number `at` and the next, of which a sum of two numbers is more than what four may have. How many are left with those before, n; -1: more
 * than `most`, and these words stay as they are.
 */
static __attribute__((noinline)) int32_t split_step(char *words, int32_t at, struct ig_bytes_left *left, int32_t n, int32_t most)
{
    uint8_t rest[8];
    int32_t first[2], more[2];
    __builtin_memcpy(rest, words + (int64_t)4 * at, sizeof rest);
    take(rest, first);
    for (;;) {
        take(rest, more);
        if (!more[0] && !more[1]) break;
        for (int i = 0; i < 2; i++) {
            if (!more[i]) continue;
            if (n == most) return -1;
            left[n++] = (struct ig_bytes_left){at + i, more[i]};
        }
    }
    __builtin_memcpy(words + (int64_t)4 * at, first, sizeof first);
    return n;
}

/* The same of words that are as they may be, but not together: the second one is left. */
INLINE int32_t leave(char *words, int32_t at, struct ig_bytes_left *left, int32_t n, int32_t most)
{
    char *second = words + (int64_t)4 * at + 4;
    if (n == most) return -1;
    left[n].at = at + 1;
    __builtin_memcpy(&left[n].word, second, sizeof left[n].word);
    __builtin_memset(second, 0, sizeof left[n].word);
    return n + 1;
}

/* What was taken goes back: no byte is more than it was. */
static void join(char *words, const struct ig_bytes_left *left, int32_t n)
{
    for (int32_t i = 0; i < n; i++) {
        uint32_t word;
        __builtin_memcpy(&word, words + (int64_t)4 * left[i].at, sizeof word);
        word += (uint32_t)left[i].word;
        __builtin_memcpy(words + (int64_t)4 * left[i].at, &word, sizeof word);
    }
}

/* Eight words are looked at at a time, of which the last may be another pixel's. */
static int32_t split(char *words, int64_t n, struct ig_bytes_left *left, int32_t most)
{
    const __m256i one = _mm256_set1_epi8(1), limit = _mm256_set1_epi16(IG_BYTES_SUM);
    int32_t count = 0;
    for (int32_t at = 0; at < n; at += 8) {
        const __m256i pairs = _mm256_maddubs_epi16(_mm256_loadu_si256((const __m256i *)(words + (int64_t)4 * at)), one);
        const __m256i fours = _mm256_add_epi16(pairs, _mm256_srli_epi64(pairs, 32));
        const uint32_t there = n - at < 8 ? 0x0f0f0f0fu >> 4 * (8 - (n - at)) : 0x0f0f0f0fu;
        uint32_t beyond = (uint32_t)_mm256_movemask_epi8(_mm256_cmpgt_epi16(fours, limit)) & there;
        if (!beyond) continue;
        const uint32_t large = (uint32_t)_mm256_movemask_epi8(_mm256_cmpgt_epi16(pairs, limit));
        while (beyond) {
            const int32_t bit = __builtin_ctz(beyond) & ~7, step = at + bit / 4, before = count;
            beyond &= ~((uint32_t)0xff << bit);
            count = large >> bit & 0xff ? split_step(words, step, left, before, most) : leave(words, step, left, before, most);
            if (count >= 0) continue;
            join(words, left, before);
            return -1;
        }
    }
    return count;
}

#define TOTAL(from, n) ig_bytes_total_avx2(from, n)
#define SPLIT(words, n, left, most) split(words, n, left, most)
#include "kernels_cpu/common/conv_bytes.inc"

void qlinear_conv_i8_split4x16__avx2(const struct ig_call *call, struct ig_range range, void *scratch)
{
    conv_bytes(call, range, scratch, &ig_bytes_split);
}
