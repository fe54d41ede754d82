/* Where the taps about a point of a grid lie along a dimension of an image, and what each counts. */
#ifndef KERNELS_CPU_REF_GRID_SAMPLE_H
#define KERNELS_CPU_REF_GRID_SAMPLE_H

#include <math.h>

#include "kernels_cpu/kernel.h"

enum { IG_SAMPLE_DIMS = 3, IG_SAMPLE_TAPS = 4 };

struct ig_sample_taps {       /* along one dimension */
    int n;
    int64_t at[IG_SAMPLE_TAPS];   /* index in the image, or -1: a zero */
    double weight[IG_SAMPLE_TAPS];
};

/* p folded back into [low, high]. */
static inline double ig_sample_reflected(double p, double low, double high)
{
    double length = high - low;
    if (length <= 0) return low;
    double over = p < low ? low - p : p > high ? p - high : 0;
    if (over == 0) return p;
    double turns = floor(over / length), rest = over - turns * length;
    int even = fmod(turns, 2) == 0;
    if (p < low) return even ? low + rest : high - rest;
    return even ? high - rest : low + rest;
}

static inline double ig_sample_clamped(double p, double high)
{
    return p < 0 ? 0 : p > high ? high : p;
}

/* A coordinate of the whole picture brought back inside, as far as the padding does. */
static inline double ig_sample_inside(const struct ig_grid_sample *a, double p, int32_t n)
{
    double low = a->align_corners ? 0 : -0.5, high = a->align_corners ? n - 1 : n - 0.5;
    if (p >= low && p <= high) return p;
    if (a->padding == IG_SAMPLE_BORDER) { /* of cubic taps each is brought back by itself, as PyTorch does; that far out all are */
        int beyond = a->mode == IG_CUBIC ? IG_SAMPLE_TAPS : 0;
        return ig_sample_clamped(p + beyond, n - 1 + 2 * beyond) - beyond;
    }
    return a->padding == IG_SAMPLE_REFLECTION ? ig_sample_reflected(p, low, high) : p;
}

static inline int64_t ig_sample_index_of(const struct ig_grid_sample *a, double i, int32_t n)
{
    double low = a->align_corners ? 0 : -0.5, high = a->align_corners ? n - 1 : n - 0.5;
    if (i >= 0 && i <= n - 1) return (int64_t)i;
    if (a->padding == IG_SAMPLE_ZEROS || i != i) return -1;
    if (a->padding == IG_SAMPLE_REFLECTION) i = ig_sample_reflected(i, low, high);
    return (int64_t)ig_sample_clamped(i, n - 1);
}

static inline double ig_sample_cubic(double d)
{
    const double a = -0.75;
    d = fabs(d);
    if (d <= 1) return ((a + 2) * d - (a + 3)) * d * d + 1;
    return d < 2 ? ((a * d - 5 * a) * d + 8 * a) * d - 4 * a : 0;
}

/* Taps about grid coordinate g of a dimension of n pixels. */
static inline struct ig_sample_taps ig_sample_taps_of(const struct ig_grid_sample *a, double g, int32_t n)
{
    double p = a->align_corners ? (g + 1) / 2 * (n - 1) : ((g + 1) * n - 1) / 2;
    if (a->mode == IG_NEAREST) p = rint(p);
    p = ig_sample_inside(a, p, n);
    struct ig_sample_taps t = {.n = a->mode == IG_NEAREST ? 1 : a->mode == IG_LINEAR ? 2 : 4};
    double first = a->mode == IG_NEAREST ? rint(p) : floor(p) - (t.n == 4);
    for (int k = 0; k < t.n; k++) {
        double d = p - (first + k);
        t.at[k] = ig_sample_index_of(a, first + k, n);
        t.weight[k] = t.n == 1 ? 1 : t.n == 2 ? 1 - fabs(d) : ig_sample_cubic(d);
    }
    return t;
}

#endif
