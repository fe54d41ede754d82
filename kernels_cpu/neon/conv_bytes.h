/* What the convolutions of quantised numbers by NEON share: `put` of common/conv_bytes.inc, bytes to 16 bits. */
#ifndef KERNELS_CPU_NEON_CONV_BYTES_H
#define KERNELS_CPU_NEON_CONV_BYTES_H

#include <arm_neon.h>

#include "kernels_cpu/common/conv_bytes.h"

static inline int16x8_t ig_bytes_widened(uint8x8_t x, int is_signed)
{
    return is_signed ? vmovl_s8(vreinterpret_s8_u8(x)) : vreinterpretq_s16_u16(vmovl_u8(x));
}

struct ig_bytes_bounds { /* y_zero, and what outputs less y_zero lie between */
    float32x4_t low, high;
    int32x4_t zero;
};

/* Four sums to numbers of 32 bits. Bounds are integers: they may come before rounding; NaN is the lower one. */
static inline int32x4_t ig_bytes_four(const int32_t *sums, const float *scale, const struct ig_bytes_bounds *b)
{
    float32x4_t y = vmulq_f32(vcvtq_f32_s32(vld1q_s32(sums)), vld1q_f32(scale));
    return vaddq_s32(vcvtnq_s32_f32(vminq_f32(vmaxnmq_f32(y, b->low), b->high)), b->zero);
}

static inline int16x8_t ig_bytes_eight(const int32_t *sums, const float *scale, const struct ig_bytes_bounds *b)
{
    return vcombine_s16(vmovn_s32(ig_bytes_four(sums, scale, b)), vmovn_s32(ig_bytes_four(sums + 4, scale + 4, b)));
}

/* The first n, 1 to 15, to `to`. */
static inline void ig_bytes_store_some(uint8_t *to, uint8x16_t bytes, int32_t n)
{
    uint8_t room[IG_BYTES_CHANNELS];
    vst1q_u8(room, bytes);
    if (n & 8) vst1_u8(to, vget_low_u8(bytes));
    for (int32_t i = n & 8; i < n; i++) to[i] = room[i];
}

/* Of sums 16 apart. */
static inline void ig_bytes_put_neon(uint8_t *const *to, int64_t at, int32_t rows, const int32_t *sums, const float *scale,
                                     int32_t n, const struct ig_bytes_head *head)
{
    const struct ig_bytes_bounds b = {vdupq_n_f32((float)(head->low - head->y_zero)), vdupq_n_f32((float)(head->high - head->y_zero)),
                                      vdupq_n_s32(head->y_zero)};
    for (int32_t i = 0; i < rows; i++, sums += IG_BYTES_CHANNELS) {
        int16x8_t first = ig_bytes_eight(sums, scale, &b), second = ig_bytes_eight(sums + 8, scale + 8, &b);
        uint8x16_t bytes = vreinterpretq_u8_s8(vcombine_s8(vmovn_s16(first), vmovn_s16(second)));
        if (n == IG_BYTES_CHANNELS) vst1q_u8(to[i] + at, bytes);
        else ig_bytes_store_some(to[i] + at, bytes, n);
    }
}

#endif
