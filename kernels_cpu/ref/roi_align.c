/*
 * Region-of-interest pooling at bilinear samples (He et al. 2017), plain ONNX layout: a region is cut into
 * the output's bins, a bin sampled at sampling x sampling points (0: about one per pixel), and these
 * averaged; or the largest of their weighted corners taken, as ONNX defines `max`.
 */
#include <math.h>

#include "kernels_cpu/ref/element.h"
#include "kernels_cpu/ref/ref.h"

enum { MOST_SAMPLES = 4096 }; /* along one side of a bin: a region that large is no region of an image */

struct corners {    /* the four pixels about a point, and their weights */
    int64_t at[4];
    double weight[4];
};

struct span {       /* one dimension of a region */
    double start, bin;
    int32_t samples;
};

int roi_align_f32_nd__supports(const struct ig_call *call)
{
    int32_t type = call->in[2].shape->type;
    return ig_ref_is_f32(call) && call->in[0].shape->rank == 4 && (type == IG_I64 || type == IG_I32);
}

/* Lower and upper index about p, and the share of the upper. */
static double between(double p, int32_t n, int32_t *low, int32_t *high)
{
    if (p < 0) p = 0;
    *low = (int32_t)p;
    *high = *low + 1;
    if (*low >= n - 1) {
        *low = *high = n - 1;
        p = *low;
    }
    return p - *low;
}

static struct corners corners(double y, double x, int32_t h, int32_t w)
{
    struct corners c = {{0}, {0}};
    int32_t y0, y1, x0, x1;
    if (!(y >= -1 && y <= h && x >= -1 && x <= w)) return c; /* NaN too */
    double fy = between(y, h, &y0, &y1), fx = between(x, w, &x0, &x1);
    return (struct corners){
        {(int64_t)y0 * w + x0, (int64_t)y0 * w + x1, (int64_t)y1 * w + x0, (int64_t)y1 * w + x1},
        {(1 - fy) * (1 - fx), (1 - fy) * fx, fy * (1 - fx), fy * fx}};
}

static struct span span(const struct ig_roi_align *a, double from, double to, int32_t bins)
{
    double shift = a->half_pixel ? 0.5 : 0, start = from * a->spatial_scale - shift;
    double size = to * a->spatial_scale - shift - start;
    if (!a->half_pixel && size < 1) size = 1;
    double samples = a->sampling > 0 ? a->sampling : ceil(size / bins);
    return (struct span){start, size / bins, samples >= 0 ? (int32_t)fmin(samples, MOST_SAMPLES) : 0};
}

static double bin(const struct ig_roi_align *a, const float *image, const struct ig_shape *in,
                  const struct span *v, const struct span *h, int32_t by, int32_t bx)
{
    double sum = 0, max = 0;
    int first = 1;
    for (int32_t i = 0; i < v->samples; i++)
        for (int32_t j = 0; j < h->samples; j++) {
            double y = v->start + (by + (i + 0.5) / v->samples) * v->bin;
            double x = h->start + (bx + (j + 0.5) / h->samples) * h->bin;
            struct corners c = corners(y, x, in->dims[2], in->dims[3]);
            for (int k = 0; k < 4; k++, first = 0) {
                double part = c.weight[k] * image[c.at[k]];
                sum += part;
                if (first || part > max) max = part;
            }
        }
    int64_t count = (int64_t)v->samples * h->samples;
    return a->max ? max : sum / (count > 1 ? (double)count : 1);
}

void roi_align_f32_nd__ref(const struct ig_call *call, struct ig_range range, void *scratch)
{
    const struct ig_roi_align *a = call->attrs;
    const struct ig_shape *in = call->in[0].shape, *out = call->out[0].shape;
    const float *rois = call->in[1].data;
    float *to = call->out[0].data;
    int64_t plane = (int64_t)in->dims[2] * in->dims[3];
    (void)range, (void)scratch;
    for (int32_t r = 0; r < out->dims[0]; r++) {
        const float *roi = rois + 4 * r; /* x1, y1, x2, y2 */
        struct span v = span(a, roi[1], roi[3], out->dims[2]), h = span(a, roi[0], roi[2], out->dims[3]);
        int64_t n = ig_get_index(&call->in[2], r, in->dims[0]);
        for (int32_t c = 0; c < out->dims[1]; c++) {
            const float *image = (const float *)call->in[0].data + (n * in->dims[1] + c) * plane;
            for (int32_t y = 0; y < out->dims[2]; y++)
                for (int32_t x = 0; x < out->dims[3]; x++) *to++ = (float)bin(a, image, in, &v, &h, y, x);
        }
    }
}
