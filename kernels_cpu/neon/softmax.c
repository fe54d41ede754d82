/*
 * Softmax over the channels of a pixel: maximum, then e^(x - max) into the output and its sum, then the
 * division. Log: x - max - ln sum, without storing the exponentials. The output may be the input.
 */
#include "kernels_cpu/neon/kernels.h"
#include "kernels_cpu/neon/vec.h"
#include "kernels_cpu/neon/vmath.h"

/* Elements i .. i+3 of n, the ones past the end as -inf. */
static float32x4_t load_or_least(const float *x, int32_t i, int32_t n)
{
    static const uint32_t lanes[4] = {0, 1, 2, 3};
    uint32x4_t there = vcltq_u32(vld1q_u32(lanes), vdupq_n_u32((uint32_t)(n - i)));
    return vbslq_f32(there, ig_load_upto4(x + i, n - i), vdupq_n_f32(-__builtin_inff()));
}

static float32x4_t largest(const float *x, int32_t n)
{
    float32x4_t max = vdupq_n_f32(-__builtin_inff());
    for (int32_t i = 0; i < n; i += 4) max = vmaxq_f32(max, load_or_least(x, i, n));
    return vdupq_n_f32(vmaxvq_f32(max));
}

static void softmax(const float *x, float *y, int32_t n)
{
    float32x4_t max = largest(x, n), sum = vdupq_n_f32(0);
    for (int32_t i = 0; i < n; i += 4) {
        float32x4_t e = ig_exp4(vsubq_f32(load_or_least(x, i, n), max));
        sum = vaddq_f32(sum, e);
        ig_store_upto4(y + i, e, n - i);
    }
    float32x4_t all = vdupq_n_f32(vaddvq_f32(sum));
    for (int32_t i = 0; i < n; i += 4)
        ig_store_upto4(y + i, vdivq_f32(ig_load_upto4(y + i, n - i), all), n - i);
}

static void log_softmax(const float *x, float *y, int32_t n)
{
    float32x4_t max = largest(x, n), sum = vdupq_n_f32(0);
    for (int32_t i = 0; i < n; i += 4) sum = vaddq_f32(sum, ig_exp4(vsubq_f32(load_or_least(x, i, n), max)));
    float32x4_t log = ig_log4(vdupq_n_f32(vaddvq_f32(sum)));
    for (int32_t i = 0; i < n; i += 4)
        ig_store_upto4(y + i, vsubq_f32(vsubq_f32(ig_load_upto4(x + i, n - i), max), log), n - i);
}

void softmax_f32_4__neon(const struct ig_call *call, struct ig_range range, void *scratch)
{
    const struct ig_operand *in = &call->in[0], *out = &call->out[0];
    int log = ((const struct ig_axis *)call->attrs)->mode == IG_SOFTMAX_LOG;
    (void)scratch;
    for (int32_t y = range.y0; y < range.y1; y++)
        for (int32_t x = 0; x < out->w; x++)
            (log ? log_softmax : softmax)(ig_row_f32(in, y) + x * in->pixel_stride,
                                          ig_row_f32(out, y) + x * out->pixel_stride, out->c);
}
