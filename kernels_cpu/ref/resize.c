/*
 * Resize, after the ONNX operator: an output index maps to an input coordinate x (attribute `coord`); the
 * result is the sum over the taps around x in every dimension of value * product of weights. With shrink =
 * min(scale, 1) if anti-aliased, else 1, a tap at index i weighs f((i - x) shrink) / sum of all; f is the
 * tent (linear) or Keys' cubic (1981). Taps beyond the edge repeat it, or are left out (exclude_outside).
 */
#include <math.h>

#include "kernels_cpu/ref/ref.h"
#include "kernels_cpu/ref/walk.h"

struct axis {         /* one dimension of one output element */
    double x, shrink; /* input coordinate; what distances are multiplied by */
    double norm;      /* sum of the raw weights */
    int32_t first, n; /* taps */
    int32_t extent;   /* of the input */
    int outside;      /* x is outside the input and the result is `extrapolation` */
};

static double cubic(double d, double a)
{
    d = fabs(d);
    if (d <= 1) return ((a + 2) * d - (a + 3)) * d * d + 1;
    return d < 2 ? ((a * d - 5 * a) * d + 8 * a) * d - 4 * a : 0;
}

static double raw_weight(const struct ig_resize *a, const struct axis *s, int32_t tap)
{
    int32_t i = s->first + tap;
    if (a->mode == IG_NEAREST) return 1;
    if (a->exclude_outside && (i < 0 || i >= s->extent)) return 0;
    double d = (i - s->x) * s->shrink;
    if (a->mode == IG_CUBIC) return cubic(d, a->cubic_a);
    return fabs(d) < 1 ? 1 - fabs(d) : 0;
}

/* The input coordinate of output index o. */
static double coordinate(const struct ig_resize *a, int d, int32_t in, int32_t out, int32_t o)
{
    double width = (double)a->scale[d] * in, begin = a->roi_begin[d], end = a->roi_end[d];
    if (fabs(width - out) < 1e-6 * out + 1e-6)
        width = out; /* the scale was out / in before it was rounded to float */
    double scale = width / in;
    if (a->scale[d] == 1 && in == out && (a->coord != IG_TF_CROP_AND_RESIZE || begin == end)) return o;
    switch (a->coord) {
    case IG_ASYMMETRIC: return o / scale;
    case IG_PYTORCH_HALF_PIXEL: return out > 1 ? (o + 0.5) / scale - 0.5 : 0;
    case IG_ALIGN_CORNERS: return width > 1 ? o * (in - 1) / (width - 1) : 0;
    case IG_TF_CROP_AND_RESIZE:
        return out > 1 ? (begin + o * (end - begin) / (out - 1)) * (in - 1) : 0.5 * (begin + end) * (in - 1);
    case IG_HALF_PIXEL_SYMMETRIC: return in / 2.0 * (1 - out / width) + (o + 0.5) / scale - 0.5;
    case IG_TF_HALF_PIXEL_FOR_NN: return (o + 0.5) / scale;
    default: return (o + 0.5) / scale - 0.5;
    }
}

static double nearest(const struct ig_resize *a, double x)
{
    switch (a->nearest) {
    case IG_ROUND_PREFER_CEIL: return floor(x + 0.5);
    case IG_NEAREST_FLOOR: return floor(x);
    case IG_NEAREST_CEIL: return ceil(x);
    default: return ceil(x - 0.5);
    }
}

static struct axis axis_of(const struct ig_resize *a, int d, int32_t in, int32_t out, int32_t o)
{
    double x = coordinate(a, d, in, out, o), reach = a->mode == IG_CUBIC ? 2 : 1;
    struct axis s = {.x = x, .shrink = 1, .extent = in, .n = 1};
    if (a->antialias && a->scale[d] < 1) s.shrink = a->scale[d];
    s.outside = a->coord == IG_TF_CROP_AND_RESIZE && (x < 0 || x > in - 1);
    if (a->mode == IG_NEAREST) s.first = (int32_t)nearest(a, x);
    else {
        int32_t start = (int32_t)floor(-reach / s.shrink) + 1;
        s.first = (int32_t)ceil(x) - 1 + start;
        s.n = 2 - 2 * start;
    }
    for (int32_t k = 0; k < s.n; k++) s.norm += raw_weight(a, &s, k);
    return s;
}

static double weight(const struct ig_resize *a, const struct axis *s, int32_t tap)
{
    return raw_weight(a, s, tap) / s->norm;
}

static int32_t tap_index(const struct axis *s, int32_t tap)
{
    int32_t i = s->first + tap;
    return i < 0 ? 0 : i >= s->extent ? s->extent - 1 : i;
}

int resize_f32_1x1__supports(const struct ig_call *call)
{
    const struct ig_resize *a = call->attrs;
    const struct ig_shape *in = call->in[0].shape, *out = call->out[0].shape;
    return ig_ref_is_f32(call) && in->rank == 4 && in->dims[0] == out->dims[0] &&
           in->dims[3] == out->dims[3] && a->scale[0] == 1 && a->scale[3] == 1;
}

static double sample(const struct ig_call *call, const struct axis *v, const struct axis *h, int32_t c)
{
    const struct ig_resize *a = call->attrs;
    const struct ig_operand *in = &call->in[0];
    double sum = 0;
    if (v->outside || h->outside) return a->extrapolation;
    for (int32_t i = 0; i < v->n; i++)
        for (int32_t j = 0; j < h->n; j++)
            sum += weight(a, v, i) * weight(a, h, j) *
                   ig_row_f32(in, tap_index(v, i))[tap_index(h, j) * in->pixel_stride + c];
    return sum;
}

void resize_f32_1x1__ref(const struct ig_call *call, struct ig_range range, void *scratch)
{
    const struct ig_operand *in = &call->in[0], *out = &call->out[0];
    (void)scratch;
    for (int32_t y = range.y0; y < range.y1; y++)
        for (int32_t x = 0; x < out->w; x++) {
            struct axis v = axis_of(call->attrs, 1, in->h, out->h, y);
            struct axis h = axis_of(call->attrs, 2, in->w, out->w, x);
            for (int32_t c = range.c0; c < range.c1; c++)
                ig_row_f32(out, y)[x * out->pixel_stride + c] = (float)sample(call, &v, &h, c);
        }
}

int resize_any_nd__supports(const struct ig_call *call)
{
    const struct ig_resize *a = call->attrs;
    return a->mode == IG_NEAREST ? ig_ref_is_number(call) : ig_ref_is_f32(call);
}

/* Sum over the taps of the dims from d on; `at`: element offset of the dims before it. */
static double interpolate(const struct ig_call *call, const struct axis *axes, int d, int64_t at)
{
    const struct ig_shape *s = call->in[0].shape;
    double sum = 0;
    if (d == s->rank) return ig_get_real(call->in[0].data, s->type, at);
    for (int32_t k = 0; k < axes[d].n; k++) {
        double w = weight(call->attrs, &axes[d], k);
        if (w != 0) sum += w * interpolate(call, axes, d + 1, at * s->dims[d] + tap_index(&axes[d], k));
    }
    return sum;
}

void resize_any_nd__ref(const struct ig_call *call, struct ig_range range, void *scratch)
{
    const struct ig_resize *a = call->attrs;
    const struct ig_shape *in = call->in[0].shape, *out = call->out[0].shape;
    (void)range, (void)scratch;
    for (int64_t i = 0; i < ig_count(out); i++) {
        struct axis axes[IG_MAX_RANK];
        int outside = 0;
        for (int d = 0; d < in->rank; d++) {
            int32_t o = (int32_t)(i / ig_span(out, d + 1, out->rank) % out->dims[d]);
            axes[d] = axis_of(a, d, in->dims[d], out->dims[d], o);
            outside |= axes[d].outside;
        }
        ig_put_real(call->out[0].data, out->type, i,
                    outside ? a->extrapolation : interpolate(call, axes, 0, 0));
    }
}
