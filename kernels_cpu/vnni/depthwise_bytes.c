/* Depthwise convolution of quantised numbers by products of four bytes: 16 channels of four pixels become 16 words in two shuffles. */
#include "kernels_cpu/avx512/put_bytes.h"
#include "kernels_cpu/common/depthwise_fours.h"
#include "kernels_cpu/vnni/kernels.h"

#define INLINE static inline __attribute__((always_inline))

enum { N = IG_BYTES_CHANNELS };

INLINE __m128i load(const uint8_t *p, __mmask16 there)
{
    return there == 0xffff ? _mm_loadu_si128((const __m128i *)p) : _mm_maskz_loadu_epi8(there, p);
}

/* Words of four pixels' sixteen channels, of those that are there. */
INLINE __m512i words_of(__m128i a, __m128i b, __m128i c, __m128i d, __m512i flip)
{
    const __m512i lanes = _mm512_setr_epi32(0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15);
    const __m512i bytes = _mm512_broadcast_i32x4(_mm_setr_epi8(0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15));
    __m512i v = _mm512_inserti32x4(_mm512_inserti32x4(_mm512_inserti32x4(_mm512_castsi128_si512(a), b, 1), c, 2), d, 3);
    return _mm512_xor_si512(_mm512_shuffle_epi8(_mm512_permutexvar_epi32(lanes, v), bytes), flip);
}

/* The words of pixels at `at`, of a run from the first of them and `step`; i: outputs that are behind it. */
INLINE __m512i words_at(const uint8_t *const *at, int64_t step, int64_t i, int64_t c, __mmask16 there, const int run, __m512i flip)
{
    const uint8_t *p = at[0] + i * step + c;
    if (!run) return words_of(load(p, there), load(at[1] + c, there), load(at[2] + c, there), load(at[3] + c, there), flip);
    return words_of(load(p, there), load(p + step, there), load(p + 2 * step, there), load(p + 3 * step, there), flip);
}

/* `sums_of` of any number of words. */
INLINE void sums_by_any(const struct fours *f, int64_t c, const __mmask16 there, const int32_t *block, const int outputs, const int run,
                        int32_t count, int32_t apart, int32_t *sums)
{
    const __m512i flip = _mm512_set1_epi8((char)f->flip), bias = _mm512_loadu_si512(block);
    for (int32_t i = 0; i < count; i++, sums += outputs * N) {
        const int32_t *w = block + 2 * N;
        __m512i first = bias, second = bias;
        for (int32_t k = 0; k < f->n; k++, w += 2 * N) {
            const __m512i x = words_at(f->at + 4 * k, f->step[k], (int64_t)i * apart, c, there, run, flip);
            first = _mm512_dpbusd_epi32(first, x, _mm512_loadu_si512(w));
            if (outputs == 2) second = _mm512_dpbusd_epi32(second, x, _mm512_loadu_si512(w + N));
        }
        _mm512_storeu_si512(sums, first);
        if (outputs == 2) _mm512_storeu_si512(sums + N, second);
    }
}

/* The same of runs by three words, as 3x3 has, all channels there: weights stay in registers. */
INLINE void sums_by_three(const struct fours *f, int64_t c, const int32_t *block, const int outputs, int32_t count, int32_t apart, int32_t *sums)
{
    enum { WORDS = 3 };
    const __m512i flip = _mm512_set1_epi8((char)f->flip), bias = _mm512_loadu_si512(block);
    const uint8_t *at[WORDS];
    __m512i w[2 * WORDS];
    int64_t step[WORDS];
#pragma GCC unroll 3
    for (int k = 0; k < WORDS; k++) {
        at[k] = f->at[4 * k] + c;
        step[k] = f->step[k];
        w[2 * k] = _mm512_loadu_si512(block + (2 + 2 * k) * N);
        w[2 * k + 1] = _mm512_loadu_si512(block + (3 + 2 * k) * N);
    }
    for (int32_t i = 0; i < count; i++, sums += outputs * N) {
        __m512i first = bias, second = bias;
#pragma GCC unroll 3
        for (int k = 0; k < WORDS; k++) {
            const uint8_t *p = at[k];
            const __m512i x = words_of(load(p, 0xffff), load(p + step[k], 0xffff), load(p + 2 * step[k], 0xffff), load(p + 3 * step[k], 0xffff), flip);
            first = _mm512_dpbusd_epi32(first, x, w[2 * k]);
            if (outputs == 2) second = _mm512_dpbusd_epi32(second, x, w[2 * k + 1]);
            at[k] += apart * step[k];
        }
        _mm512_storeu_si512(sums, first);
        if (outputs == 2) _mm512_storeu_si512(sums + N, second);
    }
}

/*
 * Words of six pixels of 8 channels, one behind the other: in the lower half those of the first four, for outputs 0 and 1, in the upper
 * half those of the last four, for outputs 2 and 3. Pixels that are not there are equal bytes, `pad`.
 */
INLINE __m512i words_of_six(const uint8_t *p, __mmask16 there, __m512i pad, __m512i flip)
{
    const __m512i lanes = _mm512_setr_epi32(0, 2, 4, 6, 1, 3, 5, 7, 4, 6, 8, 10, 5, 7, 9, 11);
    const __m512i bytes = _mm512_broadcast_i32x4(_mm_setr_epi8(0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15));
    const __m512i v = _mm512_mask_loadu_epi32(pad, there, p);
    return _mm512_xor_si512(_mm512_shuffle_epi8(_mm512_permutexvar_epi32(lanes, v), bytes), flip);
}

INLINE __m512i twice(const int32_t *p)
{
    return _mm512_broadcast_i64x4(_mm256_loadu_si256((const __m256i *)p));
}

/* Runs of pixels of 8 channels by three words, two at least: two outputs a vector; the last four overlap those before. */
static void sums_of_eight(const struct fours *f, const int32_t *block, int32_t count, int32_t *sums)
{
    enum { WORDS = 3 };
    const __m512i flip = _mm512_set1_epi8((char)f->flip), bias = twice(block);
    const uint8_t *at[WORDS];
    __m512i w[2 * WORDS], pad[WORDS];
    __mmask16 there[WORDS];
    int64_t step[WORDS];
#pragma GCC unroll 3
    for (int k = 0; k < WORDS; k++) {
        w[2 * k] = twice(block + (2 + 2 * k) * N);
        w[2 * k + 1] = twice(block + (3 + 2 * k) * N);
        at[k] = f->at[4 * k];
        step[k] = f->step[k];
        pad[k] = _mm512_set1_epi8((char)*at[k]);
        there[k] = step[k] ? 0xfff : 0;
    }
    for (int32_t i = 0; i < count; i += 2) {
        const int32_t x0 = 2 * (i + 2 <= count ? i : count - 2);
        int32_t *to = sums + x0 * N;
        __m512i first = bias, second = bias;
#pragma GCC unroll 3
        for (int k = 0; k < WORDS; k++) {
            const __m512i x = words_of_six(at[k] + x0 * step[k], there[k], pad[k], flip);
            first = _mm512_dpbusd_epi32(first, x, w[2 * k]);
            second = _mm512_dpbusd_epi32(second, x, w[2 * k + 1]);
        }
        _mm256_storeu_si256((__m256i *)to, _mm512_castsi512_si256(first));
        _mm256_storeu_si256((__m256i *)(to + N), _mm512_castsi512_si256(second));
        _mm256_storeu_si256((__m256i *)(to + 2 * N), _mm512_extracti64x4_epi64(first, 1));
        _mm256_storeu_si256((__m256i *)(to + 3 * N), _mm512_extracti64x4_epi64(second, 1));
    }
}

/* All of the image's channels are eight, and a filter has three words. */
static int is_of_eight(const struct fours *f, int64_t c, int32_t n, int outputs, int32_t count)
{
    int is = c == 0 && n == 8 && outputs == 2 && count > 1 && f->n == 3;
    for (int k = 0; is && k < f->n; k++) is = f->step[k] == 0 || f->step[k] == 8;
    return is;
}

static void sums_of(const struct fours *f, int64_t c, int32_t n, const int32_t *block, int outputs, int run, int32_t count, int32_t apart,
                    int32_t *sums)
{
    const __mmask16 there = n < N ? (__mmask16)((1u << n) - 1) : 0xffff;
    const int by_three = run && n == N && f->n == 3;
    if (is_of_eight(f, c, n, outputs, count)) sums_of_eight(f, block, count, sums);
    else if (by_three && outputs == 2) sums_by_three(f, c, block, 2, count, 2, sums);
    else if (by_three) sums_by_three(f, c, block, 1, count, apart, sums);
    else if (outputs == 2 && n == N) sums_by_any(f, c, 0xffff, block, 2, 1, count, 2, sums);
    else if (outputs == 2) sums_by_any(f, c, there, block, 2, 1, count, 2, sums);
    else if (run && n == N) sums_by_any(f, c, 0xffff, block, 1, 1, count, apart, sums);
    else sums_by_any(f, c, there, block, 1, run, count, apart, sums);
}

static void put(uint8_t *const *to, int64_t at, int32_t rows, const int32_t *sums, const float *scale, int32_t n,
                const struct ig_bytes_head *head)
{
    ig_bytes_put_quads(to, at, rows, sums, scale, n, head);
}

#include "kernels_cpu/common/depthwise_fours.inc"

void qlinear_conv_i8_depthwise16__vnni(const struct ig_call *call, struct ig_range range, void *scratch)
{
    depthwise_fours(call, range, scratch);
}
