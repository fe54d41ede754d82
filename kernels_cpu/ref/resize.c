/*
 * Resize, after the ONNX operator: an output index maps to an input coordinate x (attribute `coord`); the
 * result is the sum over the taps around x in every dimension of value * product of weights. With shrink =
 * min(scale, 1) if anti-aliased, else 1, a tap at index i weighs f((i - x) shrink) / sum of all; f is the
 * tent (linear) or Keys' cubic (1981). Taps beyond the edge repeat it, or are left out (exclude_outside).
 */
#include "kernels_cpu/ref/ref.h"
#include "kernels_cpu/ref/resize.h"
#include "kernels_cpu/ref/walk.h"

int resize_f32_1x1__supports(const struct ig_call *call)
{
    const struct ig_resize *a = call->attrs;
    const struct ig_shape *in = call->in[0].shape, *out = call->out[0].shape;
    return ig_ref_is_f32(call) && in->rank == 4 && in->dims[0] == out->dims[0] &&
           in->dims[3] == out->dims[3] && a->scale[0] == 1 && a->scale[3] == 1;
}

static double sample(const struct ig_call *call, const struct ig_resize_axis *v, const struct ig_resize_axis *h, int32_t c)
{
    const struct ig_resize *a = call->attrs;
    const struct ig_operand *in = &call->in[0];
    double sum = 0;
    if (v->outside || h->outside) return a->extrapolation;
    for (int32_t i = 0; i < v->n; i++)
        for (int32_t j = 0; j < h->n; j++)
            sum += ig_resize_weight(a, v, i) * ig_resize_weight(a, h, j) *
                   ig_row_f32(in, ig_resize_tap(v, i))[ig_resize_tap(h, j) * in->pixel_stride + c];
    return sum;
}

void resize_f32_1x1__ref(const struct ig_call *call, struct ig_range range, void *scratch)
{
    const struct ig_operand *in = &call->in[0], *out = &call->out[0];
    (void)scratch;
    for (int32_t y = range.y0; y < range.y1; y++)
        for (int32_t x = 0; x < out->w; x++) {
            struct ig_resize_axis v = ig_resize_axis_of(call->attrs, 1, in->h, out->h, y);
            struct ig_resize_axis h = ig_resize_axis_of(call->attrs, 2, in->w, out->w, x);
            for (int32_t c = range.c0; c < range.c1; c++)
                ig_row_f32(out, y)[x * out->pixel_stride + c] = (float)sample(call, &v, &h, c);
        }
}

int resize_any_nd__supports(const struct ig_call *call)
{
    const struct ig_resize *a = call->attrs;
    return a->mode == IG_NEAREST ? ig_ref_moves(call) : ig_ref_is_float(call);
}

/* Sum over the taps of the dims from d on; `at`: element offset of the dims before it. */
static double interpolate(const struct ig_call *call, const struct ig_resize_axis *axes, int d, int64_t at)
{
    const struct ig_shape *s = call->in[0].shape;
    double sum = 0;
    if (d == s->rank) return ig_get_real(call->in[0].data, s->type, at);
    for (int32_t k = 0; k < axes[d].n; k++) {
        double w = ig_resize_weight(call->attrs, &axes[d], k);
        if (w != 0) sum += w * interpolate(call, axes, d + 1, at * s->dims[d] + ig_resize_tap(&axes[d], k));
    }
    return sum;
}

void resize_any_nd__ref(const struct ig_call *call, struct ig_range range, void *scratch)
{
    const struct ig_resize *a = call->attrs;
    const struct ig_shape *in = call->in[0].shape, *out = call->out[0].shape;
    (void)range, (void)scratch;
    for (int64_t i = 0; i < ig_count(out); i++) {
        struct ig_resize_axis axes[IG_MAX_RANK];
        int outside = 0;
        for (int d = 0; d < in->rank; d++) {
            int32_t o = (int32_t)(i / ig_span(out, d + 1, out->rank) % out->dims[d]);
            axes[d] = ig_resize_axis_of(a, d, in->dims[d], out->dims[d], o);
            outside |= axes[d].outside;
        }
        ig_put_real(call->out[0].data, out->type, i,
                    outside ? a->extrapolation : interpolate(call, axes, 0, 0));
    }
}
