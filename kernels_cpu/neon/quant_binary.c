/* Sums and products of quantised operands, common/quant_binary.h. */
#include <arm_neon.h>

#include "kernels_cpu/common/quant_binary.h"
#include "kernels_cpu/neon/kernels.h"

#define INLINE static inline __attribute__((always_inline))

INLINE int16x8_t widened(uint8x8_t x, const struct ig_quant_operand *o)
{
    int16x8_t wide = o->is_signed ? vmovl_s8(vreinterpret_s8_u8(x)) : vreinterpretq_s16_u16(vmovl_u8(x));
    return vsubq_s16(wide, vdupq_n_s16((int16_t)o->zero));
}

INLINE float32x4_t real(int16x4_t x, const struct ig_quant_operand *o)
{
    return vmulq_n_f32(vcvtq_f32_s32(vmovl_s16(x)), o->scale);
}

/* NaN becomes the lower bound. */
INLINE float32x4_t clamped(float32x4_t y, const struct ig_quant_binary *q)
{
    return vminq_f32(vmaxnmq_f32(y, vdupq_n_f32(q->low)), vdupq_n_f32(q->high));
}

INLINE int16x4_t four(int16x4_t a, int16x4_t b, const struct ig_quant_binary *q)
{
    float32x4_t fa = real(a, &q->a), fb = real(b, &q->b), v = q->product ? vmulq_f32(fa, fb) : vaddq_f32(fa, fb);
    float32x4_t y = clamped(vmulq_n_f32(v, q->reciprocal), q);
    if (__builtin_expect(vmaxvq_f32(vabdq_f32(y, vrndnq_f32(y))) > IG_QUANT_SURE || !(q->reciprocal > 0), 0))
        y = clamped(vdivq_f32(v, vdupq_n_f32(q->scale)), q);
    return vmovn_s32(vaddq_s32(vcvtnq_s32_f32(y), vdupq_n_s32(q->zero)));
}

INLINE uint8x8_t eight(uint8x8_t a, uint8x8_t b, const struct ig_quant_binary *q)
{
    int16x8_t x = widened(a, &q->a), y = widened(b, &q->b);
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
    ig_quant_binary_rows(call, range, run);
}
