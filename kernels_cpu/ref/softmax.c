/*
 * Softmax along one axis: y = e^(x - max) / sum e^(x - max); log: x - max - ln sum; hard: 1 at the first
 * maximum, else 0.
 */
#include <math.h>

#include "kernels_cpu/ref/ref_tensor.h"
#include "kernels_cpu/ref/walk.h"

/* One line of n elements, `stride` apart; x may be y. */
static void line(const float *x, float *y, int64_t n, int64_t stride, int32_t kind)
{
    int64_t best = 0;
    for (int64_t i = 1; i < n; i++)
        if (x[i * stride] > x[best * stride]) best = i;
    double max = x[best * stride], sum = 0;
    for (int64_t i = 0; i < n; i++) sum += exp(x[i * stride] - max);
    for (int64_t i = 0; i < n; i++) {
        double d = x[i * stride] - max;
        if (kind == IG_SOFTMAX_EXP) y[i * stride] = (float)(exp(d) / sum);
        else if (kind == IG_SOFTMAX_LOG) y[i * stride] = (float)(d - log(sum));
        else y[i * stride] = i == best;
    }
}

int softmax_f32_1x0__supports(const struct ig_call *call)
{
    const struct ig_axis *a = call->attrs;
    return ig_ref_is_f32(call) && a->axis == call->in[0].shape->rank - 1;
}

void softmax_f32_1x0__ref(const struct ig_call *call, struct ig_range range, void *scratch)
{
    const struct ig_axis *a = call->attrs;
    const struct ig_operand *in = &call->in[0], *out = &call->out[0];
    (void)scratch;
    for (int32_t y = range.y0; y < range.y1; y++)
        for (int32_t x = 0; x < out->w; x++)
            line(ig_row_f32(in, y) + x * in->pixel_stride, ig_row_f32(out, y) + x * out->pixel_stride, out->c,
                 1, a->mode);
}

void softmax_f32_nd__ref(const struct ig_call *call, struct ig_range range, void *scratch)
{
    const struct ig_axis *a = call->attrs;
    struct ig_lines l = ig_lines_of(call->in[0].shape, a->axis);
    const float *in = call->in[0].data;
    float *out = call->out[0].data;
    (void)range, (void)scratch;
    for (int64_t o = 0; o < l.outer; o++)
        for (int64_t k = 0; k < l.inner; k++) {
            int64_t at = o * l.n * l.inner + k;
            line(in + at, out + at, l.n, l.inner, a->mode);
        }
}
