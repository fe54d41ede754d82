/* What the convolutions of quantised numbers by NEON share: `put` of common/conv_bytes.inc, `fill` of bytes, bytes to 16 bits. */
#ifndef KERNELS_CPU_NEON_CONV_BYTES_H
#define KERNELS_CPU_NEON_CONV_BYTES_H

#include <arm_neon.h>

#include "kernels_cpu/common/conv_bytes.h"

static inline int16x8_t ig_bytes_widened(uint8x8_t x, int is_signed)
{
    return is_signed ? vmovl_s8(vreinterpret_s8_u8(x)) : vreinterpretq_s16_u16(vmovl_u8(x));
}

/* n bytes, which may be all that there are. */
static inline uint8x16_t ig_bytes_load_some(const uint8_t *from, int32_t n)
{
    uint8_t room[IG_BYTES_CHANNELS] = {0};
    for (int32_t i = 0; i < n; i++) room[i] = from[i];
    return vld1q_u8(room);
}

/* `fill` of words of bytes: sixteen or eight at a time; the last ones overlap what is there. */
static inline void ig_bytes_fill_neon(void *to, const uint8_t *from, int64_t n, const struct ig_bytes_head *head)
{
    const uint8x16_t flip = vdupq_n_u8((uint8_t)head->flip);
    uint8_t *p = (uint8_t *)to;
    if (n < 8) {
        for (int64_t i = 0; i < n; i++) p[i] = from[i] ^ (uint8_t)head->flip;
        return;
    }
    if (n < 16) {
        uint8x8_t last = vld1_u8(from + n - 8);
        vst1_u8(p, veor_u8(vld1_u8(from), vget_low_u8(flip)));
        vst1_u8(p + n - 8, veor_u8(last, vget_low_u8(flip)));
        return;
    }
    for (int64_t i = 0;; i = i + 16 < n - 16 ? i + 16 : n - 16) {
        vst1q_u8(p + i, veorq_u8(vld1q_u8(from + i), flip));
        if (i == n - 16) break;
    }
}

/* The sum of n signed bytes. */
static inline int32_t ig_bytes_total_neon(const char *from, int64_t n)
{
    int32x4_t sums = vdupq_n_s32(0);
    int64_t i = 0;
    for (; i + 16 <= n; i += 16) sums = vpadalq_s16(sums, vpaddlq_s8(vld1q_s8((const int8_t *)from + i)));
    int32_t sum = vaddvq_s32(sums);
    for (; i < n; i++) sum += (int8_t)from[i];
    return sum;
}

struct ig_bytes_bounds { /* of outputs */
    int16x8_t zero, low, high;
};

/* Four sums, scaled and rounded. Conversion saturates; it would make 0 of NaN, which is to be the lower bound. */
static inline __attribute__((always_inline)) int32x4_t ig_bytes_four(const int32_t *sums, const float *scale, const int may_be_nan)
{
    float32x4_t y = vmulq_f32(vcvtq_f32_s32(vld1q_s32(sums)), vld1q_f32(scale));
    return vcvtnq_s32_f32(may_be_nan ? vmaxnmq_f32(y, vdupq_n_f32(INT16_MIN)) : y);
}

/* Eight outputs. What 16 bits cannot hold, with y_zero or without, is beyond the bounds anyway. */
static inline __attribute__((always_inline)) int16x8_t ig_bytes_eight(const int32_t *sums, const float *scale, const struct ig_bytes_bounds *b,
                                                                      const int may_be_nan)
{
    int16x8_t y = vcombine_s16(vqmovn_s32(ig_bytes_four(sums, scale, may_be_nan)), vqmovn_s32(ig_bytes_four(sums + 4, scale + 4, may_be_nan)));
    return vminq_s16(vmaxq_s16(vqaddq_s16(y, b->zero), b->low), b->high);
}

/* The first n, 1 to 15, to `to`. */
static inline void ig_bytes_store_some(uint8_t *to, uint8x16_t bytes, int32_t n)
{
    uint8_t room[IG_BYTES_CHANNELS];
    vst1q_u8(room, bytes);
    if (n & 8) vst1_u8(to, vget_low_u8(bytes));
    for (int32_t i = n & 8; i < n; i++) to[i] = room[i];
}

static inline __attribute__((always_inline)) void ig_bytes_put_rows(uint8_t *const *to, int64_t at, int32_t rows, const int32_t *sums,
                                                                    const float *scale, int32_t n, const struct ig_bytes_head *head,
                                                                    const int may_be_nan)
{
    const struct ig_bytes_bounds b = {vdupq_n_s16((int16_t)head->y_zero), vdupq_n_s16((int16_t)head->low), vdupq_n_s16((int16_t)head->high)};
    for (int32_t i = 0; i < rows; i++, sums += IG_BYTES_CHANNELS) {
        int16x8_t first = ig_bytes_eight(sums, scale, &b, may_be_nan), second = ig_bytes_eight(sums + 8, scale + 8, &b, may_be_nan);
        uint8x16_t bytes = vreinterpretq_u8_s8(vcombine_s8(vmovn_s16(first), vmovn_s16(second)));
        if (n == IG_BYTES_CHANNELS) vst1q_u8(to[i] + at, bytes);
        else ig_bytes_store_some(to[i] + at, bytes, n);
    }
}

/* Of sums 16 apart. */
static inline void ig_bytes_put_neon(uint8_t *const *to, int64_t at, int32_t rows, const int32_t *sums, const float *scale,
                                     int32_t n, const struct ig_bytes_head *head)
{
    if (head->narrows) ig_bytes_put_rows(to, at, rows, sums, scale, n, head, 0);
    else ig_bytes_put_rows(to, at, rows, sums, scale, n, head, 1);
}

#endif
