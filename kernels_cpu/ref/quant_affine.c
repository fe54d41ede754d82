/*
 * What is linear in a quantised tensor, channel by channel: v = x scale[c] + offset[c], a fused multiply-add of floats, whose numbers have
 * the scales and the zero point of x in them. Then y = saturate(round half to even(v) + y_zero), clipped between integers.
 */
#include "kernels_cpu/ref/quantized.h"
#include "kernels_cpu/ref/ref.h"

int qlinear_affine_any_1x1__supports(const struct ig_call *call)
{
    const struct ig_operand *x = &call->in[0], *out = &call->out[0];
    const struct ig_act *act = &((const struct ig_unary_attr *)call->attrs)->act;
    for (int k = 1; k < 3; k++)
        if (call->n_in != 4 || call->in[k].shape->type != IG_F32 || ig_count(call->in[k].shape) != x->c) return 0;
    return ig_is_byte(x) && ig_is_byte(out) && ig_is_byte(&call->in[3]) && ig_count(call->in[3].shape) == 1 && x->h == out->h &&
           x->w == out->w && x->c == out->c && (act->kind == IG_NONE || act->kind == IG_CLIP);
}

void qlinear_affine_any_1x1__ref(const struct ig_call *call, struct ig_range range, void *scratch)
{
    const struct ig_operand *in = &call->in[0], *out = &call->out[0];
    const struct ig_act *act = &((const struct ig_unary_attr *)call->attrs)->act;
    const int32_t type = out->shape->type;
    (void)scratch;
    for (int32_t y = range.y0; y < range.y1; y++)
        for (int32_t x = 0; x < out->w; x++)
            for (int32_t c = range.c0; c < range.c1; c++) {
                double n = ig_get_real(ig_row(in, y, 1), in->shape->type, x * in->pixel_stride + c);
                float v = __builtin_fmaf((float)n, ig_scale(call, 1, c), ig_scale(call, 2, c));
                int64_t rounded = ig_saturated(rint(v) + ig_parameter(call, 3, 0), type);
                ig_put_int(ig_row(out, y, 1), type, x * out->pixel_stride + c, (int64_t)ig_ref_act(act, (double)rounded));
            }
}
