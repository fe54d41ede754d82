/* The same of weights that leave what depthwise_bytes.c may have: taps widened to 16 bits, products added in 32. */
#include "kernels_cpu/common/depthwise_bytes.h"
#include "kernels_cpu/neon/conv_bytes.h"
#include "kernels_cpu/neon/kernels.h"
#include "kernels_cpu/neon/sums_floats.h"

enum { N = IG_BYTES_CHANNELS, QUADS = N / 4, SOME = 4 /* pixels whose sums stay in registers */, PAIR = N };

/* s += 16 channels of a tap. */
static inline __attribute__((always_inline)) void add_tap(int32x4_t s[QUADS], uint8x16_t bytes, const int16x8_t w[2], const int is_signed)
{
    const int16x8_t x[2] = {ig_bytes_widened(vget_low_u8(bytes), is_signed), ig_bytes_widened(vget_high_u8(bytes), is_signed)};
#pragma GCC unroll 2
    for (int j = 0; j < 2; j++) {
        s[2 * j] = vmlal_s16(s[2 * j], vget_low_s16(x[j]), vget_low_s16(w[j]));
        s[2 * j + 1] = vmlal_high_s16(s[2 * j + 1], x[j], w[j]);
    }
}

/* Pixels [i, i + count). */
static inline __attribute__((always_inline)) void pixels(const struct taps *taps, int64_t c, int32_t n, const int32_t *block, const int is_signed,
                                                         const int whole, int32_t i, const int count, int32_t *sums)
{
    const int16_t *w = (const int16_t *)(block + 2 * N);
    int32x4_t s[SOME][QUADS];
#pragma GCC unroll 4
    for (int j = 0; j < count; j++)
#pragma GCC unroll 4
        for (int k = 0; k < QUADS; k++) s[j][k] = vld1q_s32(block + 4 * k);
    for (int32_t t = 0; t < 2 * taps->pairs; t++, w += N) {
        const int64_t step = taps->step[t];
        const uint8_t *at = taps->at[t] + c + i * step;
        const int16x8_t row[2] = {vld1q_s16(w), vld1q_s16(w + 8)};
#pragma GCC unroll 4
        for (int j = 0; j < count; j++) add_tap(s[j], whole ? vld1q_u8(at + j * step) : ig_bytes_load_some(at + j * step, n), row, is_signed);
    }
#pragma GCC unroll 4
    for (int j = 0; j < count; j++)
#pragma GCC unroll 4
        for (int k = 0; k < QUADS; k++) vst1q_s32(sums + (i + j) * N + 4 * k, s[j][k]);
}

#include "kernels_cpu/common/depthwise_pixels.inc"

static void put(uint8_t *const *to, int64_t at, int32_t rows, const int32_t *sums, const float *scale, int32_t n,
                const struct ig_bytes_head *head)
{
    ig_bytes_put_neon(to, at, rows, sums, scale, n, head);
}

#include "kernels_cpu/common/depthwise_bytes.inc"

void qlinear_conv_i16_depthwise16__neon(const struct ig_call *call, struct ig_range range, void *scratch)
{
    depthwise_bytes(call, range, scratch);
}

void conv_integer_i16_depthwise16__neon(const struct ig_call *call, struct ig_range range, void *scratch)
{
    run_depthwise(call, range, scratch, ig_bytes_floats_neon);
}
