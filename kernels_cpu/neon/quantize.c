/* Floats to numbers of 8 bits and back, common/quantize.h. */
#include <arm_neon.h>

#include "kernels_cpu/common/quantize.h"
#include "kernels_cpu/neon/kernels.h"

/* Four outputs, of which the lower 8 bits count. The bounds come before the rounding, which keeps integers; NaN is the lower. */
static inline int16x4_t four(const float *x, const struct ig_quantization *q)
{
    float32x4_t y = vmaxnmq_f32(vdivq_f32(vld1q_f32(x), vdupq_n_f32(q->scale)), vdupq_n_f32(q->low));
    return vmovn_s32(vaddq_s32(vcvtnq_s32_f32(vminq_f32(y, vdupq_n_f32(q->high))), vdupq_n_s32(q->zero)));
}

static void quantize(uint8_t *y, const float *x, int64_t n, const struct ig_quantization *q)
{
    const struct ig_quantization own = *q; /* which no store changes */
    for (int64_t i = 0; i < n; i += 16) {
        int16x8_t a = vcombine_s16(four(x + i, &own), four(x + i + 4, &own));
        int16x8_t b = vcombine_s16(four(x + i + 8, &own), four(x + i + 12, &own));
        vst1q_u8(y + i, vreinterpretq_u8_s8(vcombine_s8(vmovn_s16(a), vmovn_s16(b))));
    }
}

/* Four numbers, widened, less zero, times scale. */
static inline void put_four(float *y, int16x4_t x, const struct ig_quantization *q)
{
    vst1q_f32(y, vmulq_f32(vcvtq_f32_s32(vsubq_s32(vmovl_s16(x), vdupq_n_s32(q->zero))), vdupq_n_f32(q->scale)));
}

static void dequantize(float *y, const uint8_t *x, int64_t n, const struct ig_quantization *q)
{
    const struct ig_quantization own = *q;
    for (int64_t i = 0; i < n; i += 8) {
        uint8x8_t bytes = vld1_u8(x + i);
        int16x8_t wide = own.is_signed ? vmovl_s8(vreinterpret_s8_u8(bytes)) : vreinterpretq_s16_u16(vmovl_u8(bytes));
        put_four(y + i, vget_low_s16(wide), &own);
        put_four(y + i + 4, vget_high_s16(wide), &own);
    }
}

void quantize_f32_4__neon(const struct ig_call *call, struct ig_range range, void *scratch)
{
    (void)scratch;
    ig_quantize_rows(call, range, quantize);
}

void dequantize_f32_4__neon(const struct ig_call *call, struct ig_range range, void *scratch)
{
    (void)scratch;
    ig_dequantize_rows(call, range, dequantize);
}

/* Comparisons, as a minimum of NEON's is no number where one of two is none. */
static void extremes(const float *x, int64_t n, float *low, float *high)
{
    float32x4_t least[2] = {vdupq_n_f32(*low), vdupq_n_f32(*low)}, most[2] = {vdupq_n_f32(*high), vdupq_n_f32(*high)};
    for (int64_t i = 0; i < n; i += 8) {
        const float32x4_t a = vld1q_f32(x + i), b = vld1q_f32(x + i + 4);
        least[0] = vbslq_f32(vcltq_f32(a, least[0]), a, least[0]), least[1] = vbslq_f32(vcltq_f32(b, least[1]), b, least[1]);
        most[0] = vbslq_f32(vcgtq_f32(a, most[0]), a, most[0]), most[1] = vbslq_f32(vcgtq_f32(b, most[1]), b, most[1]);
    }
    *low = vminvq_f32(vminq_f32(least[0], least[1]));
    *high = vmaxvq_f32(vmaxq_f32(most[0], most[1]));
}

void dynamic_quantize_f32_4__neon(const struct ig_call *call, struct ig_range range, void *scratch)
{
    (void)range, (void)scratch;
    ig_quantize_dynamic(call, extremes, quantize);
}

void extremes_f32_4__neon(const struct ig_call *call, struct ig_range range, void *scratch)
{
    (void)scratch;
    ig_extremes_of_parts(call, range, extremes);
}
