/* Affine functions of quantised tensors, common/quant_affine.h. */
#include <arm_neon.h>

#include "kernels_cpu/common/quant_affine.h"
#include "kernels_cpu/neon/kernels.h"

#define INLINE static inline __attribute__((always_inline))

/* Four, rounded and within their bounds, which are whole numbers; NaN becomes the lower one. */
INLINE int32x4_t four(int16x4_t x, const float *scale, const float *offset, const struct ig_quant_affine *q)
{
    float32x4_t v = vfmaq_f32(vld1q_f32(offset), vcvtq_f32_s32(vmovl_s16(x)), vld1q_f32(scale));
    v = vminq_f32(vmaxnmq_f32(v, vdupq_n_f32(q->low)), vdupq_n_f32(q->high));
    return vcvtnq_s32_f32(v);
}

/* Eight, of which the lower 8 bits count. */
INLINE int16x8_t eight(int16x8_t x, const float *scale, const float *offset, const struct ig_quant_affine *q)
{
    int16x4_t low = vmovn_s32(four(vget_low_s16(x), scale, offset, q));
    return vaddq_s16(vmovn_high_s32(low, four(vget_high_s16(x), scale + 4, offset + 4, q)), vdupq_n_s16((int16_t)q->zero));
}

INLINE void sixteen(uint8_t *y, uint8x16_t x, const float *scale, const float *offset, const struct ig_quant_affine *q, const int is_signed)
{
    const int8x16_t s = vreinterpretq_s8_u8(x);
    const int16x8_t low = is_signed ? vmovl_s8(vget_low_s8(s)) : vreinterpretq_s16_u16(vmovl_u8(vget_low_u8(x)));
    const int16x8_t high = is_signed ? vmovl_high_s8(s) : vreinterpretq_s16_u16(vmovl_high_u8(x));
    vst1q_u8(y, vreinterpretq_u8_s8(vmovn_high_s16(vmovn_s16(eight(low, scale, offset, q)), eight(high, scale + 8, offset + 8, q))));
}

static void run(uint8_t *y, const uint8_t *x, const float *scale, const float *offset, int64_t n, const struct ig_quant_affine *q)
{
    const struct ig_quant_affine own = *q; /* which no store changes */
    for (int64_t i = 0; i < n; i += 16)
        if (own.x_signed) sixteen(y + i, vld1q_u8(x + i), scale + i, offset + i, &own, 1);
        else sixteen(y + i, vld1q_u8(x + i), scale + i, offset + i, &own, 0);
}

void qlinear_affine_i8_16__neon(const struct ig_call *call, struct ig_range range, void *scratch)
{
    (void)scratch;
    ig_quant_affine_rows(call, range, run, NULL);
}
