/* Where a region's bins lie in an image: for the reference kernel, and for those that give its results faster. */
#ifndef KERNELS_CPU_REF_ROI_ALIGN_H
#define KERNELS_CPU_REF_ROI_ALIGN_H

#include <math.h>

#include "graph/op.h"

enum { IG_ROI_SAMPLES = 4096 }; /* most along one side of a bin: a region that large is no region of an image */

struct ig_roi_span {       /* one dim of a region */
    double start, bin;
    int32_t samples;       /* of a bin; 0: none */
};

static inline struct ig_roi_span ig_roi_span_of(const struct ig_roi_align *a, double from, double to, int32_t bins)
{
    double shift = a->half_pixel ? 0.5 : 0, start = from * (double)a->spatial_scale - shift;
    double size = to * (double)a->spatial_scale - shift - start;
    if (!a->half_pixel && size < 1) size = 1;
    double samples = a->sampling > 0 ? a->sampling : ceil(size / bins);
    return (struct ig_roi_span){start, size / bins, samples < 0 || samples != samples ? 0 : samples < IG_ROI_SAMPLES ? (int32_t)samples : IG_ROI_SAMPLES};
}

struct ig_roi_tap {        /* the two pixels about a sample, and their weights; both 0: it is outside the image, NaN too */
    int32_t at[2];
    double weight[2];
};

/* Sample i of a bin, in a dim of n pixels. */
static inline struct ig_roi_tap ig_roi_tap_of(const struct ig_roi_span *s, int32_t bin, int32_t i, int32_t n)
{
    double p = s->start + (bin + (i + 0.5) / s->samples) * s->bin;
    if (!(p >= -1 && p <= n)) return (struct ig_roi_tap){{0, 0}, {0, 0}};
    if (p < 0) p = 0;
    int32_t low = (int32_t)p;
    if (low >= n - 1) return (struct ig_roi_tap){{n - 1, n - 1}, {1, 0}};
    return (struct ig_roi_tap){{low, low + 1}, {1 - (p - low), p - low}};
}

struct ig_roi_pixels { int32_t from, to; };

static inline int32_t ig_roi_within(double v, int32_t n)
{
    return v > 0 ? v < n ? (int32_t)v : n : 0;
}

/* To the nearest whole number, halves away from zero. */
static inline double ig_roi_rounded(double v)
{
    return v < 0 ? -floor(0.5 - v) : floor(v + 0.5);
}

/* IG_ROI_POOL: the whole pixels of a bin in a dim of n, by numbers rounded to single precision, as onnxruntime has them. */
static inline struct ig_roi_pixels ig_roi_pixels_of(const struct ig_roi_align *a, float from, float to, int32_t bin, int32_t bins, int32_t n)
{
    float first = from * a->spatial_scale, last = to * a->spatial_scale;
    double start = ig_roi_rounded((double)first), length = ig_roi_rounded((double)last) - start + 1;
    float size = (float)(length > 1 ? length : 1) / (float)bins, begin = (float)bin * size, end = (float)(bin + 1) * size;
    return (struct ig_roi_pixels){ig_roi_within(floor((double)begin) + start, n), ig_roi_within(ceil((double)end) + start, n)};
}

#endif
