/*
 * Dynamic quantisation to u8 (ONNX DynamicQuantizeLinear), in single precision as its function body has it:
 *   scale = (max(0, max x) - min(0, min x)) / 255
 *   zero  = round(-min / scale)
 *   y     = saturate(round(x / scale) + zero)
 * A tensor of zeros gets scale 1. And the extremes alone, of parts of a tensor.
 */
#include "kernels_cpu/ref/ref_tensor.h"
#include "kernels_cpu/ref/walk.h"

/* Half to even, and saturated; |x| beyond 2^22 saturates before the rounding constant would lose it. */
static uint8_t to_u8(float x, float zero)
{
    const float magic = 12582912.0f; /* 1.5 * 2^23: its sum with x has no fraction bits */
    if (x > 1024) return 255;
    if (x < -1024) return 0;
    volatile float shifted = x + magic;
    float y = shifted - magic + zero;
    return y > 255 ? 255 : y > 0 ? (uint8_t)y : 0; /* NaN: 0 */
}

int dynamic_quantize_f32_nd__supports(const struct ig_call *call)
{
    return call->in[0].shape->type == IG_F32 && call->n_out == 3;
}

void dynamic_quantize_f32_nd__ref(const struct ig_call *call, struct ig_range range, void *scratch)
{
    const float *x = call->in[0].data;
    uint8_t *y = call->out[0].data, *zero_out = call->out[2].data;
    float *scale_out = call->out[1].data, min = 0, max = 0;
    int64_t count = ig_count(call->in[0].shape);
    (void)range, (void)scratch;
    for (int64_t i = 0; i < count; i++) {
        min = x[i] < min ? x[i] : min;
        max = x[i] > max ? x[i] : max;
    }
    float scale = max > min ? (max - min) / 255 : 1;
    uint8_t zero = to_u8(-min / scale, 0);
    for (int64_t i = 0; y && i < count; i++) y[i] = to_u8(x[i] / scale, zero);
    if (scale_out) *scale_out = scale;
    if (zero_out) *zero_out = zero;
}

int extremes_f32_nd__supports(const struct ig_call *call)
{
    return call->in[0].shape->type == IG_F32 && call->out[0].shape->type == IG_F32;
}

/* Rows [y0, y1) of [P,2]. */
void extremes_f32_nd__ref(const struct ig_call *call, struct ig_range range, void *scratch)
{
    const float *x = call->in[0].data;
    float *y = call->out[0].data;
    const int64_t count = ig_count(call->in[0].shape), parts = call->out[0].shape->dims[0], part = (count + parts - 1) / parts;
    (void)scratch;
    for (int64_t p = range.y0; p < range.y1; p++) {
        float min = 0, max = 0;
        for (int64_t i = p * part; i < count && i < (p + 1) * part; i++) {
            min = x[i] < min ? x[i] : min;
            max = x[i] > max ? x[i] : max;
        }
        y[2 * p] = min, y[2 * p + 1] = max;
    }
}
