/*
 * Convolution of quantised operands: acc = sum (x - x_zero) (w - w_zero) in integers; then acc itself
 * (ConvInteger) or the float that scales make of it (ref/scaled.h), or saturate(round((acc + bias) x_scale w_scale / y_scale) + y_zero)
 * (QLinearConv), then clipped between integers, or (acc + bias) x_scale w_scale / y_scale as a float. Padding is x_zero.
 */
#include "kernels_cpu/ref/quantized.h"
#include "kernels_cpu/ref/ref.h"
#include "kernels_cpu/ref/scaled.h"
#include "kernels_cpu/ref/window.h"

struct quant {            /* which inputs are what */
    int w, x_zero, w_zero;
};

static const struct quant in_integer = {1, 2, 3}, in_qlinear = {3, 2, 5};

int conv_integer_any_1x1__supports(const struct ig_call *call)
{
    return ig_is_byte(&call->in[0]) && ig_is_byte(&call->in[1]) && ig_is_sum(call);
}

int qlinear_conv_any_1x1__supports(const struct ig_call *call)
{
    int32_t act = ((const struct ig_conv *)call->attrs)->act.kind;
    int fits = ig_is_byte(&call->out[0]) ? act == IG_NONE || act == IG_CLIP : call->out[0].shape->type == IG_F32 && act == IG_NONE;
    return ig_is_byte(&call->in[0]) && ig_is_byte(&call->in[3]) && fits;
}

static int64_t dot(const struct ig_call *call, const struct quant *q, int32_t y, int32_t x, int32_t oc)
{
    const struct ig_conv *a = call->attrs;
    const struct ig_window *w = &a->w;
    const struct ig_operand *in = &call->in[0], *out = &call->out[0], *weights = &call->in[q->w];
    int32_t in_h = in->h / w->in_d, out_h = out->h / w->out_d;
    int32_t n = in->c / a->groups, first = oc / (out->c / a->groups) * n;
    int64_t x_zero = (int64_t)ig_parameter(call, q->x_zero, 0), sum = 0;
    int64_t w_zero = (int64_t)ig_parameter(call, q->w_zero, oc);
    for (int32_t k = 0; k < ig_taps(w); k++) {
        int32_t iz = ig_tap(y / out_h, w->sd, w->front, k / (w->kh * w->kw), w->dd);
        int32_t iy = ig_tap(y % out_h, w->sh, w->top, k / w->kw % w->kh, w->dh);
        int32_t ix = ig_tap(x, w->sw, w->left, k % w->kw, w->dw);
        if (!ig_inside(iz, w->in_d) || !ig_inside(iy, in_h) || !ig_inside(ix, in->w)) continue;
        const void *row = ig_row(in, iz * in_h + iy, 1);
        for (int32_t i = 0; i < n; i++)
            sum += (ig_get_int(row, in->shape->type, ix * in->pixel_stride + first + i) - x_zero) *
                   (ig_get_int(weights->data, weights->shape->type, ((int64_t)oc * n + i) * ig_taps(w) + k) -
                    w_zero);
    }
    return sum;
}

void conv_integer_any_1x1__ref(const struct ig_call *call, struct ig_range range, void *scratch)
{
    const struct ig_operand *out = &call->out[0];
    (void)scratch;
    for (int32_t y = range.y0; y < range.y1; y++)
        for (int32_t x = 0; x < out->w; x++)
            for (int32_t c = range.c0; c < range.c1; c++)
                ig_put_sum(call, &((const struct ig_conv *)call->attrs)->act, ig_row(out, y, 4), x * out->pixel_stride + c, c,
                           (int32_t)dot(call, &in_integer, y, x, c));
}

void qlinear_conv_any_1x1__ref(const struct ig_call *call, struct ig_range range, void *scratch)
{
    const struct ig_operand *out = &call->out[0];
    const struct ig_act *act = &((const struct ig_conv *)call->attrs)->act;
    int32_t type = out->shape->type;
    (void)scratch;
    for (int32_t y = range.y0; y < range.y1; y++)
        for (int32_t x = 0; x < out->w; x++)
            for (int32_t c = range.c0; c < range.c1; c++) {
                int64_t acc = dot(call, &in_qlinear, y, x, c) + (int64_t)ig_parameter(call, 8, c);
                if (type == IG_F32) {
                    ig_row_f32(out, y)[x * out->pixel_stride + c] =
                        (float)acc * (ig_scale(call, 1, 0) * ig_scale(call, 4, c) / ig_scale(call, 6, 0));
                    continue;
                }
                int64_t v = ig_requantized(acc, ig_scale(call, 1, 0), ig_scale(call, 4, c), ig_scale(call, 6, 0),
                                           ig_parameter(call, 7, 0), type);
                ig_put_int(ig_row(out, y, 1), type, x * out->pixel_stride + c, (int64_t)ig_ref_act(act, (double)v));
            }
}
