/*
 * Transposed convolution, gathered: y[p][oc] = act(bias + sum of x[q][ic] w[ic][oc][k] over the q, k with
 * q s - pad + k d = p) + residual as in conv.c.
 */
#include "kernels_cpu/ref/act.h"
#include "kernels_cpu/ref/element.h"
#include "kernels_cpu/ref/ref.h"
#include "kernels_cpu/ref/window.h"

int deconv_f32_1x1__supports(const struct ig_call *call)
{
    return conv_f32_1x1__supports(call);
}

static double dot(const struct ig_call *call, int32_t y, int32_t x, int32_t oc)
{
    const struct ig_conv *a = call->attrs;
    const struct ig_window *w = &a->w;
    const struct ig_operand *in = &call->in[0], *out = &call->out[0];
    int32_t in_h = in->h / w->in_d, out_h = out->h / w->out_d;
    int32_t n = in->c / a->groups, m = out->c / a->groups, first = oc / m * n;
    int32_t in_type = in->shape->type, type = call->in[1].shape->type, taps = ig_taps(w);
    double sum = 0;
    for (int32_t k = 0; k < taps; k++) {
        int32_t iz = ig_tap_back(y / out_h, w->sd, w->front, k / (w->kh * w->kw), w->dd);
        int32_t iy = ig_tap_back(y % out_h, w->sh, w->top, k / w->kw % w->kh, w->dh);
        int32_t ix = ig_tap_back(x, w->sw, w->left, k % w->kw, w->dw);
        if (!ig_inside(iz, w->in_d) || !ig_inside(iy, in_h) || !ig_inside(ix, in->w)) continue;
        const void *row = ig_row(in, iz * in_h + iy, ig_type_bytes(in_type));
        int64_t pixel = (int64_t)ix * in->pixel_stride + first;
        for (int32_t i = 0; i < n; i++)
            sum += (double)ig_get_float(row, in_type, pixel + i) *
                   ig_get_float(call->in[1].data, type, ((int64_t)(first + i) * m + oc % m) * taps + k);
    }
    return sum;
}

void deconv_f32_1x1__ref(const struct ig_call *call, struct ig_range range, void *scratch)
{
    const struct ig_conv *a = call->attrs;
    const struct ig_operand *out = &call->out[0], *residual = &call->in[3];
    const struct ig_operand *bias = call->n_in > 2 && call->in[2].shape ? &call->in[2] : NULL;
    (void)scratch;
    for (int32_t y = range.y0; y < range.y1; y++)
        for (int32_t x = 0; x < out->w; x++)
            for (int32_t c = range.c0; c < range.c1; c++) {
                double sum = dot(call, y, x, c) + (bias ? ig_load(bias, 0, c) : 0);
                if (call->n_in > 3 && residual->shape)
                    sum += ig_load(residual, y, x * residual->pixel_stride + c);
                ig_store(out, y, x * out->pixel_stride + c, (float)ig_ref_act(&a->act, sum));
            }
}
