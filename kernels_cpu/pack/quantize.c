/* Which quantisations, there and back, the vector kernels compute. */
#include <string.h>

#include "kernels_cpu/common/quant_affine.h"
#include "kernels_cpu/pack/ask.h"
#include "kernels_cpu/pack/pack.h"
#include "kernels_cpu/ref/quantized.h"

static int is_byte(const struct ig_operand *o)
{
    return o->shape->type == IG_U8 || o->shape->type == IG_I8;
}

/* The scale is one float, the zero point one number of 8 bits or absent. */
static int has_one_scale(const struct ig_call *call)
{
    return ig_has(call, 1) && ig_is_f32(&call->in[1]) && ig_count(call->in[1].shape) == 1 &&
           (!ig_has(call, 2) || (is_byte(&call->in[2]) && ig_count(call->in[2].shape) == 1)) &&
           ig_same_extent(&call->in[0], &call->out[0]);
}

int ig_supports_quantize(const struct ig_call *call)
{
    return ig_is_f32(&call->in[0]) && is_byte(&call->out[0]) && has_one_scale(call);
}

int ig_supports_dequantize(const struct ig_call *call)
{
    return is_byte(&call->in[0]) && ig_is_f32(&call->out[0]) && has_one_scale(call);
}

int ig_supports_quant_binary(const struct ig_call *call)
{
    return qlinear_binary_any_1x1__supports(call) && ig_is_f32(&call->in[1]) && ig_is_f32(&call->in[4]) && ig_is_f32(&call->in[6]) &&
           is_byte(&call->in[7]);
}

int ig_supports_quant_affine(const struct ig_call *call)
{
    return qlinear_affine_any_1x1__supports(call) && ig_is_const_f32(call, 1) && ig_is_const_f32(call, 2) && call->in[3].data;
}

static struct ig_quant_affine affine_of(const struct ig_call *call)
{
    const int32_t zero = (int32_t)ig_parameter(call, 3, 0);
    struct ig_quant_affine q = {.x_signed = call->in[0].shape->type == IG_I8, .zero = zero, .is_signed = call->out[0].shape->type == IG_I8};
    int32_t low, high;
    ig_quantized_bounds(&((const struct ig_unary_attr *)call->attrs)->act, call->out[0].shape->type, &low, &high);
    q.low = (float)(low - zero);
    q.high = (float)(high - zero);
    return q;
}

size_t ig_pack_quant_affine(const struct ig_call *call, void *dst)
{
    const size_t n = (size_t)call->in[0].c, padded = (n + IG_QUANT_STEP - 1) / IG_QUANT_STEP * IG_QUANT_STEP;
    const size_t bytes = sizeof(struct ig_quant_affine) + 2 * padded * sizeof(float);
    if (!dst) return bytes;
    float *to = (float *)((struct ig_quant_affine *)dst + 1);
    memset(dst, 0, bytes);
    *(struct ig_quant_affine *)dst = affine_of(call);
    for (size_t k = 0; k < 2; k++) memcpy(to + k * padded, call->in[1 + k].data, n * sizeof(float));
    return bytes;
}
