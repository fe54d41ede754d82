/*
 * Depthwise convolution of quantised numbers: two taps' bytes multiplied into 16 bits (smull, smlal), added to sums of 32 (saddw): 32
 * multiply-adds in eight instructions.
 */
#include "kernels_cpu/common/depthwise_bytes.h"
#include "kernels_cpu/neon/conv_bytes.h"
#include "kernels_cpu/neon/kernels.h"
#include "kernels_cpu/neon/sums_floats.h"

enum { N = IG_BYTES_CHANNELS, QUADS = N / 4, SOME = 4 /* pixels whose sums stay in registers */, PAIR = N / 2 };

/* s += 16 channels of a pair of taps. */
static inline __attribute__((always_inline)) void add_pair(int32x4_t s[QUADS], uint8x16_t a, uint8x16_t b, uint8x16_t flip, const int8x16_t w[2])
{
    const int8x16_t x = vreinterpretq_s8_u8(veorq_u8(a, flip)), y = vreinterpretq_s8_u8(veorq_u8(b, flip));
    const int16x8_t low = vmlal_s8(vmull_s8(vget_low_s8(x), vget_low_s8(w[0])), vget_low_s8(y), vget_low_s8(w[1]));
    const int16x8_t high = vmlal_high_s8(vmull_high_s8(x, w[0]), y, w[1]);
    s[0] = vaddw_s16(s[0], vget_low_s16(low));
    s[1] = vaddw_high_s16(s[1], low);
    s[2] = vaddw_s16(s[2], vget_low_s16(high));
    s[3] = vaddw_high_s16(s[3], high);
}

static inline __attribute__((always_inline)) uint8x16_t load(const uint8_t *from, int32_t n, const int whole)
{
    return whole ? vld1q_u8(from) : ig_bytes_load_some(from, n);
}

/* Pixels [i, i + count). */
static inline __attribute__((always_inline)) void pixels(const struct taps *taps, int64_t c, int32_t n, const int32_t *block, uint8x16_t flip,
                                                         const int whole, int32_t i, const int count, int32_t *sums)
{
    const int8_t *w = (const int8_t *)(block + 2 * N);
    int32x4_t s[SOME][QUADS];
#pragma GCC unroll 4
    for (int j = 0; j < count; j++)
#pragma GCC unroll 4
        for (int k = 0; k < QUADS; k++) s[j][k] = vld1q_s32(block + 4 * k);
    for (int32_t t = 0; t < 2 * taps->pairs; t += 2, w += 2 * N) {
        const int64_t first = taps->step[t], second = taps->step[t + 1];
        const uint8_t *a = taps->at[t] + c + i * first, *b = taps->at[t + 1] + c + i * second;
        const int8x16_t row[2] = {vld1q_s8(w), vld1q_s8(w + N)};
#pragma GCC unroll 4
        for (int j = 0; j < count; j++, a += first, b += second) add_pair(s[j], load(a, n, whole), load(b, n, whole), flip, row);
    }
#pragma GCC unroll 4
    for (int j = 0; j < count; j++)
#pragma GCC unroll 4
        for (int k = 0; k < QUADS; k++) vst1q_s32(sums + (i + j) * N + 4 * k, s[j][k]);
}

static inline __attribute__((always_inline)) void all(const struct taps *taps, int64_t c, int32_t n, const int32_t *block, uint8x16_t flip,
                                                      const int whole, int32_t count, int32_t *sums)
{
    int32_t i = 0;
    for (; i + SOME <= count; i += SOME) pixels(taps, c, n, block, flip, whole, i, SOME, sums);
    for (; i < count; i++) pixels(taps, c, n, block, flip, whole, i, 1, sums);
}

static void sums_of(const struct taps *taps, int64_t c, int32_t n, const int32_t *block, int is_signed, int32_t count, int32_t *sums)
{
    const uint8x16_t flip = vdupq_n_u8(is_signed ? 0 : 128);
    if (n == N) all(taps, c, n, block, flip, 1, count, sums);
    else all(taps, c, n, block, flip, 0, count, sums);
}

static void put(uint8_t *const *to, int64_t at, int32_t rows, const int32_t *sums, const float *scale, int32_t n,
                const struct ig_bytes_head *head)
{
    ig_bytes_put_neon(to, at, rows, sums, scale, n, head);
}

#include "kernels_cpu/common/depthwise_bytes.inc"

void qlinear_conv_i8_depthwise16__neon(const struct ig_call *call, struct ig_range range, void *scratch)
{
    depthwise_bytes(call, range, scratch);
}

void conv_integer_i8_depthwise16__neon(const struct ig_call *call, struct ig_range range, void *scratch)
{
    run_depthwise(call, range, scratch, ig_bytes_floats_neon);
}
