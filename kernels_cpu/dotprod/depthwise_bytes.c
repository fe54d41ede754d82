/*
 * Depthwise convolution of quantised numbers by products of four bytes: 16 channels of two pixels become 16 pairs of bytes, of two such
 * pairs 16 words. Where words lie two pixels apart, the later half of one is the earlier half of the next.
 */
#include "kernels_cpu/common/depthwise_fours.h"
#include "kernels_cpu/dotprod/kernels.h"
#include "kernels_cpu/neon/conv_bytes.h"
#include "kernels_cpu/neon/sums_floats.h"

#define INLINE static inline __attribute__((always_inline))

enum { N = IG_BYTES_CHANNELS, QUADS = N / 4 };

struct pairs { int16x8_t low, high; };     /* of channels 0-7, of channels 8-15 */
struct words { int32x4_t quad[QUADS]; };   /* of four channels each; or such sums */

INLINE uint8x16_t load(const uint8_t *p, int32_t n, const int whole)
{
    return whole ? vld1q_u8(p) : ig_bytes_load_some(p, n);
}

/* Of two pixels, flipped. */
INLINE struct pairs pairs_of(uint8x16_t a, uint8x16_t b, uint8x16_t flip)
{
    a = veorq_u8(a, flip), b = veorq_u8(b, flip);
    return (struct pairs){vreinterpretq_s16_u8(vzip1q_u8(a, b)), vreinterpretq_s16_u8(vzip2q_u8(a, b))};
}

INLINE struct words words_of(struct pairs a, struct pairs b)
{
    return (struct words){{vreinterpretq_s32_s16(vzip1q_s16(a.low, b.low)), vreinterpretq_s32_s16(vzip2q_s16(a.low, b.low)),
                           vreinterpretq_s32_s16(vzip1q_s16(a.high, b.high)), vreinterpretq_s32_s16(vzip2q_s16(a.high, b.high))}};
}

INLINE struct words load_words(const int32_t *p)
{
    return (struct words){{vld1q_s32(p), vld1q_s32(p + 4), vld1q_s32(p + 8), vld1q_s32(p + 12)}};
}

INLINE void store_words(int32_t *p, struct words s)
{
#pragma GCC unroll 4
    for (int q = 0; q < QUADS; q++) vst1q_s32(p + 4 * q, s.quad[q]);
}

INLINE struct words dot(struct words s, struct words x, const int32_t *w)
{
#pragma GCC unroll 4
    for (int q = 0; q < QUADS; q++)
        s.quad[q] = vdotq_s32(s.quad[q], vreinterpretq_s8_s32(x.quad[q]), vreinterpretq_s8_s32(vld1q_s32(w + 4 * q)));
    return s;
}

/* The words of pixels at `at`, of a run from the first of them and `step`; i: outputs that are behind it. */
INLINE struct words words_at(const uint8_t *const *at, int64_t step, int64_t i, int64_t c, int32_t n, const int whole, const int run, uint8x16_t flip)
{
    const uint8_t *p = at[0] + i * step + c, *q[3];
    for (int k = 0; k < 3; k++) q[k] = run ? p + (k + 1) * step : at[k + 1] + c;
    return words_of(pairs_of(load(p, n, whole), load(q[0], n, whole), flip), pairs_of(load(q[1], n, whole), load(q[2], n, whole), flip));
}

/* `sums_of` of any number of words. */
INLINE void sums_by_any(const struct fours *f, int64_t c, int32_t n, const int whole, const int32_t *block, const int outputs, const int run,
                        int32_t count, int32_t apart, int32_t *sums)
{
    const uint8x16_t flip = vdupq_n_u8((uint8_t)f->flip);
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
    const uint8x16_t flip = vdupq_n_u8((uint8_t)f->flip);
    const uint8_t *at[WORDS]; /* a word's third pixel */
    struct pairs half[WORDS];
    int64_t step[WORDS];
#pragma GCC unroll 3
    for (int k = 0; k < WORDS; k++) {
        const uint8_t *p = f->at[4 * k] + c;
        step[k] = f->step[k];
        half[k] = pairs_of(vld1q_u8(p), vld1q_u8(p + step[k]), flip);
        at[k] = p + 2 * step[k];
    }
    for (int32_t i = 0; i < count; i++, sums += outputs * N) {
        struct words first = load_words(block), second = first;
#pragma GCC unroll 3
        for (int k = 0; k < WORDS; k++) {
            const int32_t *w = block + (2 + 2 * k) * N;
            const struct pairs next = pairs_of(vld1q_u8(at[k]), vld1q_u8(at[k] + step[k]), flip);
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

static void sums_of(const struct fours *f, int64_t c, int32_t n, const int32_t *block, int outputs, int run, int32_t count, int32_t apart,
                    int32_t *sums)
{
    const int by_three = run && n == N && f->n == 3 && apart == 2;
    if (by_three && outputs == 2) sums_by_three(f, c, block, 2, count, sums);
    else if (by_three) sums_by_three(f, c, block, 1, count, sums);
    else if (outputs == 2 && n == N) sums_by_any(f, c, n, 1, block, 2, 1, count, apart, sums);
    else if (outputs == 2) sums_by_any(f, c, n, 0, block, 2, 1, count, apart, sums);
    else if (run && n == N) sums_by_any(f, c, n, 1, block, 1, 1, count, apart, sums);
    else if (n == N) sums_by_any(f, c, n, 1, block, 1, 0, count, apart, sums);
    else sums_by_any(f, c, n, 0, block, 1, run, count, apart, sums);
}

static void put(uint8_t *const *to, int64_t at, int32_t rows, const int32_t *sums, const float *scale, int32_t n,
                const struct ig_bytes_head *head)
{
    ig_bytes_put_neon(to, at, rows, sums, scale, n, head);
}

#include "kernels_cpu/common/depthwise_fours.inc"

void qlinear_conv_i8_depthwise16__dotprod(const struct ig_call *call, struct ig_range range, void *scratch)
{
    depthwise_fours(call, range, scratch, NULL);
}

void conv_integer_i8_depthwise16__dotprod(const struct ig_call *call, struct ig_range range, void *scratch)
{
    depthwise_fours(call, range, scratch, ig_bytes_floats_neon);
}
