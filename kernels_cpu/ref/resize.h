/* Taps of a resize along one dimension: where they are and how much they weigh; resize.c. */
#ifndef KERNELS_CPU_REF_RESIZE_H
#define KERNELS_CPU_REF_RESIZE_H

#include <math.h>

#include "graph/op.h"

struct ig_resize_axis {         /* one dimension of one output element */
    double x, shrink; /* input coordinate; what distances are multiplied by */
    double norm;      /* sum of the raw weights */
    int32_t first, n; /* taps */
    int32_t extent;   /* of the input */
    int outside;      /* x is outside the input and the result is `extrapolation` */
};

static inline double ig_resize_cubic(double d, double a)
{
    d = fabs(d);
    if (d <= 1) return ((a + 2) * d - (a + 3)) * d * d + 1;
    return d < 2 ? ((a * d - 5 * a) * d + 8 * a) * d - 4 * a : 0;
}

static inline double ig_resize_raw(const struct ig_resize *a, const struct ig_resize_axis *s, int32_t tap)
{
    int32_t i = s->first + tap;
    if (a->mode == IG_NEAREST) return 1;
    if (a->exclude_outside && (i < 0 || i >= s->extent)) return 0;
    double d = (i - s->x) * s->shrink;
    if (a->mode == IG_CUBIC) return ig_resize_cubic(d, a->cubic_a);
    return fabs(d) < 1 ? 1 - fabs(d) : 0;
}

/* The input coordinate of output index o; not o / scale, which would round twice and miss whole numbers that are to be rounded down. */
static inline double ig_resize_coordinate(const struct ig_resize *a, int d, int32_t in, int32_t out, int32_t o)
{
    double width = (double)a->scale[d] * in, begin = a->roi_begin[d], end = a->roi_end[d];
    if (fabs(width - out) < 1e-6 * out + 1e-6)
        width = out; /* the scale was out / in before it was rounded to float */
    if (a->scale[d] == 1 && in == out && (a->coord != IG_TF_CROP_AND_RESIZE || begin == end)) return o;
    switch (a->coord) {
    case IG_ASYMMETRIC: return o * (double)in / width;
    case IG_PYTORCH_HALF_PIXEL: return out > 1 ? (o + 0.5) * in / width - 0.5 : 0;
    case IG_ALIGN_CORNERS: return width > 1 ? o * (in - 1) / (width - 1) : 0;
    case IG_TF_CROP_AND_RESIZE:
        return out > 1 ? (begin + o * (end - begin) / (out - 1)) * (in - 1) : 0.5 * (begin + end) * (in - 1);
    case IG_HALF_PIXEL_SYMMETRIC: return in / 2.0 * (1 - out / width) + (o + 0.5) * in / width - 0.5;
    case IG_TF_HALF_PIXEL_FOR_NN: return (o + 0.5) * in / width;
    default: return (o + 0.5) * in / width - 0.5;
    }
}

static inline double ig_resize_nearest(const struct ig_resize *a, double x)
{
    switch (a->nearest) {
    case IG_ROUND_PREFER_CEIL: return floor(x + 0.5);
    case IG_NEAREST_FLOOR: return floor(x);
    case IG_NEAREST_CEIL: return ceil(x);
    default: return ceil(x - 0.5);
    }
}

static inline struct ig_resize_axis ig_resize_axis_of(const struct ig_resize *a, int d, int32_t in, int32_t out, int32_t o)
{
    double x = ig_resize_coordinate(a, d, in, out, o), reach = a->mode == IG_CUBIC ? 2 : 1;
    struct ig_resize_axis s = {.x = x, .shrink = 1, .extent = in, .n = 1};
    if (a->antialias && a->scale[d] < 1) s.shrink = a->scale[d];
    s.outside = a->coord == IG_TF_CROP_AND_RESIZE && (x < 0 || x > in - 1);
    if (a->mode == IG_NEAREST) s.first = (int32_t)ig_resize_nearest(a, x);
    else {
        int32_t start = (int32_t)floor(-reach / s.shrink) + 1;
        s.first = (int32_t)ceil(x) - 1 + start;
        s.n = 2 - 2 * start;
    }
    for (int32_t k = 0; k < s.n; k++) s.norm += ig_resize_raw(a, &s, k);
    return s;
}

static inline double ig_resize_weight(const struct ig_resize *a, const struct ig_resize_axis *s, int32_t tap)
{
    return ig_resize_raw(a, s, tap) / s->norm;
}

static inline int32_t ig_resize_tap(const struct ig_resize_axis *s, int32_t tap)
{
    int32_t i = s->first + tap;
    return i < 0 ? 0 : i >= s->extent ? s->extent - 1 : i;
}

#endif
