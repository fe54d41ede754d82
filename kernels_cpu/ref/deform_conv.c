/*
 * Deformable convolution (Dai et al. 2017; with a mask: Zhu et al. 2019), plain ONNX layout:
 *   y[oc][p] = bias + sum over the group's ic and taps k of
 *              w[oc][ic][k] x(ic, p s - pad + k d + offset[k][p]) mask[k][p]
 * x between pixels is bilinear, and zero outside the image. Offsets are (dy, dx) per group of input channels
 * and tap.
 */
#include <math.h>

#include "kernels_cpu/ref/ref.h"
#include "kernels_cpu/ref/window.h"

int deform_conv_f32_nd__supports(const struct ig_call *call)
{
    return ig_ref_is_f32(call) && call->in[0].shape->rank == 4;
}

static double pixel(const float *x, int32_t h, int32_t w, int32_t iy, int32_t ix)
{
    return ig_inside(iy, h) && ig_inside(ix, w) ? x[(int64_t)iy * w + ix] : 0;
}

static double bilinear(const float *x, int32_t h, int32_t w, double py, double px)
{
    if (!(py > -1 && py < h && px > -1 && px < w)) return 0;
    int32_t iy = (int32_t)floor(py), ix = (int32_t)floor(px);
    double fy = py - iy, fx = px - ix;
    return (1 - fy) * ((1 - fx) * pixel(x, h, w, iy, ix) + fx * pixel(x, h, w, iy, ix + 1)) +
           fy * ((1 - fx) * pixel(x, h, w, iy + 1, ix) + fx * pixel(x, h, w, iy + 1, ix + 1));
}

static const float *input(const struct ig_call *call, int k)
{
    return k < call->n_in && call->in[k].shape ? call->in[k].data : NULL;
}

/* Sum of the taps of one input channel ic, which is channel i of its group. */
static double dot(const struct ig_call *call, int32_t n, int32_t oc, int32_t ic, int32_t i, int32_t y,
                  int32_t x)
{
    const struct ig_deform *a = call->attrs;
    const struct ig_window *w = &a->w;
    const int32_t *in = call->in[0].shape->dims, *out = call->out[0].shape->dims;
    int32_t taps = w->kh * w->kw, group = ic / (in[1] / a->offset_groups);
    int64_t plane = (int64_t)out[2] * out[3], at = (int64_t)y * out[3] + x;
    const float *image = input(call, 0) + ((int64_t)n * in[1] + ic) * in[2] * in[3];
    const float *weights = input(call, 1) + ((int64_t)oc * (in[1] / a->groups) + i) * taps;
    const float *offsets = input(call, 2) + ((int64_t)n * a->offset_groups + group) * taps * 2 * plane;
    const float *mask = input(call, 4);
    if (mask) mask += ((int64_t)n * a->offset_groups + group) * taps * plane;
    double sum = 0;
    for (int32_t k = 0; k < taps; k++) {
        double py = ig_tap(y, w->sh, w->top, k / w->kw, w->dh) + (double)offsets[2 * k * plane + at];
        double px = ig_tap(x, w->sw, w->left, k % w->kw, w->dw) + (double)offsets[(2 * k + 1) * plane + at];
        sum += weights[k] * bilinear(image, in[2], in[3], py, px) * (mask ? mask[k * plane + at] : 1);
    }
    return sum;
}

void deform_conv_f32_nd__ref(const struct ig_call *call, struct ig_range range, void *scratch)
{
    const struct ig_deform *a = call->attrs;
    const int32_t *in = call->in[0].shape->dims, *out = call->out[0].shape->dims;
    const float *bias = input(call, 3);
    float *to = call->out[0].data;
    int32_t group = in[1] / a->groups;
    (void)range, (void)scratch;
    for (int32_t n = 0; n < out[0]; n++)
        for (int32_t oc = 0; oc < out[1]; oc++)
            for (int32_t y = 0; y < out[2]; y++)
                for (int32_t x = 0; x < out[3]; x++) {
                    double sum = bias ? bias[oc] : 0;
                    int32_t first = oc / (out[1] / a->groups) * group;
                    for (int32_t i = 0; i < group; i++) sum += dot(call, n, oc, first + i, i, y, x);
                    *to++ = (float)sum;
                }
}
