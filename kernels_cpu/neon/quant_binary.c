/* Sums and products of quantised operands, common/quant_binary.h. */
#include <arm_neon.h>

#include "kernels_cpu/common/quant_binary.h"
#include "kernels_cpu/neon/kernels.h"

#define INLINE static inline __attribute__((always_inline))

INLINE int16x8_t widened(uint8x8_t x, int is_signed)
{
    return is_signed ? vmovl_s8(vreinterpret_s8_u8(x)) : vreinterpretq_s16_u16(vmovl_u8(x));
}

INLINE float32x4_t sum(int16x4_t a, int16x4_t b, const struct ig_quant_binary *q)
{
    float32x4_t v = vfmaq_n_f32(vdupq_n_f32(q->k), vcvtq_f32_s32(vmovl_s16(b)), q->b);
    return vfmaq_n_f32(v, vcvtq_f32_s32(vmovl_s16(a)), q->a);
}

INLINE float32x4_t product(int16x4_t a, int16x4_t b, const struct ig_quant_binary *q)
{
    a = vsub_s16(a, vdup_n_s16((int16_t)q->a_zero));
    b = vsub_s16(b, vdup_n_s16((int16_t)q->b_zero));
    return vmulq_n_f32(vcvtq_f32_s32(vmull_s16(a, b)), q->product);
}

/* Four, rounded and within their bounds, which are whole numbers; NaN becomes the lower one. */
INLINE int16x4_t four(int16x4_t a, int16x4_t b, const struct ig_quant_binary *q)
{
    float32x4_t v = q->is_product ? product(a, b, q) : sum(a, b, q);
    v = vminq_f32(vmaxnmq_f32(v, vdupq_n_f32(q->low)), vdupq_n_f32(q->high));
    return vmovn_s32(vaddq_s32(vcvtnq_s32_f32(v), vdupq_n_s32(q->zero)));
}

INLINE uint8x8_t eight(uint8x8_t a, uint8x8_t b, const struct ig_quant_binary *q)
{
    int16x8_t x = widened(a, q->a_signed), y = widened(b, q->b_signed);
    int16x4_t low = four(vget_low_s16(x), vget_low_s16(y), q), high = four(vget_high_s16(x), vget_high_s16(y), q);
    return vreinterpret_u8_s8(vmovn_s16(vcombine_s16(low, high)));
}

static void run(uint8_t *y, const uint8_t *a, const uint8_t *b, int64_t n, const struct ig_quant_binary *q)
{
    const struct ig_quant_binary own = *q; /* which no store changes */
    for (int64_t i = 0; i < n; i += 8) vst1_u8(y + i, eight(vld1_u8(a + i), vld1_u8(b + i), &own));
}

void qlinear_binary_i8_8__neon(const struct ig_call *call, struct ig_range range, void *scratch)
{
    (void)scratch;
    ig_quant_binary_rows(call, range, run, NULL);
}
