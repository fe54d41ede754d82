/* Which quantisations, there and back, the vector kernels compute. */
#include "kernels_cpu/pack/ask.h"
#include "kernels_cpu/pack/pack.h"

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
