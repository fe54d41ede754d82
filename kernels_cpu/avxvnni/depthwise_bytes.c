/*
 * Depthwise convolution of quantised numbers by products of four bytes: 16 channels of two pixels become 16 pairs of bytes, of two such
 * pairs 16 words. Where words lie two pixels apart, the later half of one is the earlier half of the next.
 */
#include "kernels_cpu/avx2/conv_bytes.h"
#include "kernels_cpu/avx2/sums_floats.h"
#include "kernels_cpu/avxvnni/kernels.h"
#include "kernels_cpu/common/depthwise_fours.h"

#define INLINE static inline __attribute__((always_inline))

enum { N = IG_BYTES_CHANNELS };

struct words { __m256i low, high; }; /* of channels 0-7, of channels 8-15; or such sums */

INLINE __m128i load(const uint8_t *p, int32_t n, const int whole)
{
    return whole ? _mm_loadu_si128((const __m128i *)p) : ig_bytes_load_some(p, n);
}

/* Pairs of bytes of two pixels, flipped: of channels 0-3 and 8-11, of channels 4-7 and 12-15. */
INLINE __m256i pairs_of(__m128i a, __m128i b, __m256i flip)
{
    const __m256i even = _mm256_setr_epi8(0, -1, 1, -1, 2, -1, 3, -1, 8, -1, 9, -1, 10, -1, 11, -1,
                                          4, -1, 5, -1, 6, -1, 7, -1, 12, -1, 13, -1, 14, -1, 15, -1);
    const __m256i odd = _mm256_setr_epi8(-1, 0, -1, 1, -1, 2, -1, 3, -1, 8, -1, 9, -1, 10, -1, 11,
                                         -1, 4, -1, 5, -1, 6, -1, 7, -1, 12, -1, 13, -1, 14, -1, 15);
    const __m256i first = _mm256_shuffle_epi8(_mm256_broadcastsi128_si256(a), even);
    const __m256i second = _mm256_shuffle_epi8(_mm256_broadcastsi128_si256(b), odd);
    return _mm256_xor_si256(_mm256_or_si256(first, second), flip);
}

INLINE struct words words_of(__m256i first, __m256i second)
{
    return (struct words){_mm256_unpacklo_epi16(first, second), _mm256_unpackhi_epi16(first, second)};
}

INLINE struct words load_words(const int32_t *p)
{
    return (struct words){_mm256_loadu_si256((const __m256i *)p), _mm256_loadu_si256((const __m256i *)(p + 8))};
}

INLINE void store_words(int32_t *p, struct words s)
{
    _mm256_storeu_si256((__m256i *)p, s.low);
    _mm256_storeu_si256((__m256i *)(p + 8), s.high);
}

INLINE struct words dot(struct words s, struct words x, const int32_t *w)
{
    const struct words by = load_words(w);
    return (struct words){_mm256_dpbusd_avx_epi32(s.low, x.low, by.low), _mm256_dpbusd_avx_epi32(s.high, x.high, by.high)};
}

/* The words of pixels at `at`, of a run from the first of them and `step`; i: outputs that are behind it. */
INLINE struct words words_at(const uint8_t *const *at, int64_t step, int64_t i, int64_t c, int32_t n, const int whole, const int run, __m256i flip)
{
    const uint8_t *p = at[0] + i * step + c, *q[3];
    for (int k = 0; k < 3; k++) q[k] = run ? p + (k + 1) * step : at[k + 1] + c;
    return words_of(pairs_of(load(p, n, whole), load(q[0], n, whole), flip), pairs_of(load(q[1], n, whole), load(q[2], n, whole), flip));
}

/* `sums_of` of any number of words. */
INLINE void sums_by_any(const struct fours *f, int64_t c, int32_t n, const int whole, const int32_t *block, const int outputs, const int run,
                        int32_t count, int32_t apart, int32_t *sums)
{
    const __m256i flip = _mm256_set1_epi8((char)f->flip);
    for (int32_t i = 0; i < count; i++, sums += outputs * N) {
        const int32_t *w = block + 2 * N;
        struct words first = load_words(block), second = first;
        for (int32_t k = 0; k < f->n; k++, w += 2 * N) {
            const struct words x = words_at(f->at + 4 * k, f->step[k], (int64_t)i * apart, c, n, whole, run, flip);
            first = dot(first, x, w);
            if (outputs == 2) second = dot(second, x, w + N);
        }
        store_words(sums, first);
        if (outputs == 2) store_words(sums + N, second);
    }
}

/* The same of runs by three words, as 3x3 has, two pixels apart, all channels there. */
INLINE void sums_by_three(const struct fours *f, int64_t c, const int32_t *block, const int outputs, int32_t count, int32_t *sums)
{
    enum { WORDS = 3 };
    const __m256i flip = _mm256_set1_epi8((char)f->flip);
    const uint8_t *at[WORDS]; /* a word's third pixel */
    __m256i half[WORDS];
    int64_t step[WORDS];
#pragma GCC unroll 3
    for (int k = 0; k < WORDS; k++) {
        const uint8_t *p = f->at[4 * k] + c;
        step[k] = f->step[k];
        half[k] = pairs_of(load(p, N, 1), load(p + step[k], N, 1), flip);
        at[k] = p + 2 * step[k];
    }
    for (int32_t i = 0; i < count; i++, sums += outputs * N) {
        struct words first = load_words(block), second = first;
#pragma GCC unroll 3
        for (int k = 0; k < WORDS; k++) {
            const int32_t *w = block + (2 + 2 * k) * N;
            const __m256i next = pairs_of(load(at[k], N, 1), load(at[k] + step[k], N, 1), flip);
            const struct words x = words_of(half[k], next);
            first = dot(first, x, w);
            if (outputs == 2) second = dot(second, x, w + N);
            half[k] = next;
            at[k] += 2 * step[k];
        }
        store_words(sums, first);
        if (outputs == 2) store_words(sums + N, second);
    }
}

/* A kernel row's two words, the filter's k-th and the next one, two pixels apart from output to output, to sums. */
INLINE void add_row(const struct fours *f, int32_t k, int64_t c, const int32_t *w, const int outputs, int32_t count, int32_t *sums)
{
    const __m256i flip = _mm256_set1_epi8((char)f->flip);
    const int64_t step = f->step[k];
    const uint8_t *at = f->at[4 * k] + c;
    __m256i half[4];
#pragma GCC unroll 3
    for (int j = 0; j < 3; j++, at += 2 * step) half[j] = pairs_of(load(at, N, 1), load(at + step, N, 1), flip);
    for (int32_t i = 0; i < count; i++, sums += outputs * N, at += 2 * step) {
        half[3] = pairs_of(load(at, N, 1), load(at + step, N, 1), flip);
        const struct words x = words_of(half[0], half[1]), y = words_of(half[2], half[3]);
        store_words(sums, dot(dot(load_words(sums), x, w), y, w + 2 * N));
        if (outputs == 2) store_words(sums + N, dot(dot(load_words(sums + N), x, w + N), y, w + 3 * N));
        half[0] = half[1], half[1] = half[2], half[2] = half[3];
    }
}

/* The same of runs by kernel rows of two words, as 5x5 and 7x7 have. */
INLINE void sums_by_rows(const struct fours *f, int64_t c, const int32_t *block, const int outputs, int32_t count, int32_t *sums)
{
    const struct words bias = load_words(block);
    for (int32_t i = 0; i < count * outputs; i++) store_words(sums + i * N, bias);
    for (int32_t k = 0; k < f->n; k += 2) add_row(f, k, c, block + (2 + 2 * k) * N, outputs, count, sums);
}

static void sums_of(const struct fours *f, int64_t c, int32_t n, const int32_t *block, int outputs, int run, int32_t count, int32_t apart,
                    int32_t *sums)
{
    const int regular = run && n == N && apart == 2, by_three = regular && f->n == 3, by_rows = regular && f->row == 2;
    if (by_three && outputs == 2) sums_by_three(f, c, block, 2, count, sums);
    else if (by_three) sums_by_three(f, c, block, 1, count, sums);
    else if (by_rows && outputs == 2) sums_by_rows(f, c, block, 2, count, sums);
    else if (by_rows) sums_by_rows(f, c, block, 1, count, sums);
    else if (outputs == 2 && n == N) sums_by_any(f, c, n, 1, block, 2, 1, count, 2, sums);
    else if (outputs == 2) sums_by_any(f, c, n, 0, block, 2, 1, count, 2, sums);
    else if (run && n == N) sums_by_any(f, c, n, 1, block, 1, 1, count, apart, sums);
    else if (n == N) sums_by_any(f, c, n, 1, block, 1, 0, count, apart, sums);
    else sums_by_any(f, c, n, 0, block, 1, run, count, apart, sums);
}

static void put(uint8_t *const *to, int64_t at, int32_t rows, const int32_t *sums, const float *scale, int32_t n,
                const struct ig_bytes_head *head)
{
    ig_bytes_put_avx2(to, at, rows, sums, N, scale, n, head);
}

#include "kernels_cpu/common/depthwise_fours.inc"

void qlinear_conv_i8_depthwise16__avxvnni(const struct ig_call *call, struct ig_range range, void *scratch)
{
    depthwise_fours(call, range, scratch, NULL);
}

void conv_integer_i8_depthwise16__avxvnni(const struct ig_call *call, struct ig_range range, void *scratch)
{
    depthwise_fours(call, range, scratch, ig_bytes_floats_avx2);
}
