/*
 * Samples of an image at the points of a grid, plain ONNX layout: x [N,C,(D,)H,W], grid [N,(D,)H,W,2 or 3]
 * holds (x, y(, z)) in [-1, 1]. Nearest, linear or cubic (Keys, a = -0.75) taps in every dimension; what lies
 * outside is zero, the border, or reflected.
 */
#include <math.h>

#include "kernels_cpu/ref/ref.h"
#include "kernels_cpu/ref/walk.h"

enum { MAX_DIMS = 3, MAX_TAPS = 4 };

struct taps {       /* along one dimension */
    int n;
    int64_t at[MAX_TAPS];   /* index in the image, or -1: a zero */
    double weight[MAX_TAPS];
};

int grid_sample_f32_nd__supports(const struct ig_call *call)
{
    const struct ig_shape *x = call->in[0].shape, *grid = call->in[1].shape;
    return ig_ref_is_f32(call) && (x->rank == 4 || x->rank == 5) && grid->rank == x->rank &&
           grid->dims[grid->rank - 1] == x->rank - 2;
}

/* p folded back into [low, high]. */
static double reflected(double p, double low, double high)
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

static double clamped(double p, double high)
{
    return p < 0 ? 0 : p > high ? high : p;
}

/* A coordinate of the whole picture brought back inside, as far as the padding does. */
static double inside(const struct ig_grid_sample *a, double p, int32_t n)
{
    double low = a->align_corners ? 0 : -0.5, high = a->align_corners ? n - 1 : n - 0.5;
    if (p >= low && p <= high) return p;
    if (a->padding == IG_SAMPLE_BORDER) { /* of cubic taps each is brought back by itself, as PyTorch does; that far out all are */
        int beyond = a->mode == IG_CUBIC ? MAX_TAPS : 0;
        return clamped(p + beyond, n - 1 + 2 * beyond) - beyond;
    }
    return a->padding == IG_SAMPLE_REFLECTION ? reflected(p, low, high) : p;
}

static int64_t index_of(const struct ig_grid_sample *a, double i, int32_t n)
{
    double low = a->align_corners ? 0 : -0.5, high = a->align_corners ? n - 1 : n - 0.5;
    if (i >= 0 && i <= n - 1) return (int64_t)i;
    if (a->padding == IG_SAMPLE_ZEROS || i != i) return -1;
    if (a->padding == IG_SAMPLE_REFLECTION) i = reflected(i, low, high);
    return (int64_t)clamped(i, n - 1);
}

static double cubic(double d)
{
    const double a = -0.75;
    d = fabs(d);
    if (d <= 1) return ((a + 2) * d - (a + 3)) * d * d + 1;
    return d < 2 ? ((a * d - 5 * a) * d + 8 * a) * d - 4 * a : 0;
}

/* Taps about grid coordinate g of a dimension of n pixels. */
static struct taps taps_of(const struct ig_grid_sample *a, double g, int32_t n)
{
    double p = a->align_corners ? (g + 1) / 2 * (n - 1) : ((g + 1) * n - 1) / 2;
    if (a->mode == IG_NEAREST) p = rint(p);
    p = inside(a, p, n);
    struct taps t = {.n = a->mode == IG_NEAREST ? 1 : a->mode == IG_LINEAR ? 2 : 4};
    double first = a->mode == IG_NEAREST ? rint(p) : floor(p) - (t.n == 4);
    for (int k = 0; k < t.n; k++) {
        double d = p - (first + k);
        t.at[k] = index_of(a, first + k, n);
        t.weight[k] = t.n == 1 ? 1 : t.n == 2 ? 1 - fabs(d) : cubic(d);
    }
    return t;
}

/* Sum over the taps of the dims from d on; `at`: offset so far. */
static double sample(const float *image, const struct ig_shape *in, const struct taps *taps, int d,
                     int64_t at)
{
    double sum = 0;
    if (d == in->rank - 2) return image[at];
    for (int k = 0; k < taps[d].n; k++)
        if (taps[d].at[k] >= 0)
            sum += taps[d].weight[k] * sample(image, in, taps, d + 1, at * in->dims[d + 2] + taps[d].at[k]);
    return sum;
}

void grid_sample_f32_nd__ref(const struct ig_call *call, struct ig_range range, void *scratch)
{
    const struct ig_shape *in = call->in[0].shape, *out = call->out[0].shape;
    int dims = in->rank - 2;
    int64_t in_plane = ig_span(in, 2, in->rank), points = ig_span(out, 2, out->rank);
    (void)range, (void)scratch;
    for (int32_t n = 0; n < out->dims[0]; n++)
        for (int64_t i = 0; i < points; i++) {
            const float *point = (const float *)call->in[1].data + (n * points + i) * dims;
            struct taps taps[MAX_DIMS];
            for (int d = 0; d < dims; d++)
                taps[d] = taps_of(call->attrs, point[dims - 1 - d], in->dims[d + 2]);
            for (int32_t c = 0; c < out->dims[1]; c++) {
                const float *image =
                    (const float *)call->in[0].data + ((int64_t)n * in->dims[1] + c) * in_plane;
                ((float *)call->out[0].data)[((int64_t)n * out->dims[1] + c) * points + i] =
                    (float)sample(image, in, taps, 0, 0);
            }
        }
}
