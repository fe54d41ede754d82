/*
 * Regions of interest: each is cut into the output's bins. A bin is sampled at sampling x sampling bilinear points (He et al. 2017; 0: about one per
 * pixel), and these averaged, or the largest of their weighted corners taken, as ONNX defines `max`; or it is the largest of its whole pixels
 * (Girshick 2015), 0 where it has none.
 */
#include "kernels_cpu/ref/roi_align.h"
#include "kernels_cpu/ref/element.h"
#include "kernels_cpu/ref/ref.h"

struct region {
    const struct ig_roi_align *a;
    const float *image, *roi; /* x1, y1, x2, y2 */
    int32_t h, w, c;          /* of the image */
    int32_t rows, columns;    /* of bins */
};

int roi_align_f32_nd__supports(const struct ig_call *call)
{
    int32_t type = call->in[2].shape->type;
    return ig_ref_is_f32(call) && call->in[0].shape->rank == 4 && (type == IG_I64 || type == IG_I32);
}

static double sampled(const struct region *g, int32_t by, int32_t bx, int32_t c)
{
    const struct ig_roi_span v = ig_roi_span_of(g->a, g->roi[1], g->roi[3], g->rows), h = ig_roi_span_of(g->a, g->roi[0], g->roi[2], g->columns);
    double sum = 0, max = 0;
    int first = 1;
    for (int32_t i = 0; i < v.samples; i++)
        for (int32_t j = 0; j < h.samples; j++) {
            const struct ig_roi_tap y = ig_roi_tap_of(&v, by, i, g->h), x = ig_roi_tap_of(&h, bx, j, g->w);
            for (int k = 0; k < 4; k++, first = 0) {
                double part = y.weight[k / 2] * x.weight[k % 2] * g->image[((int64_t)y.at[k / 2] * g->w + x.at[k % 2]) * g->c + c];
                sum += part;
                if (first || part > max) max = part;
            }
        }
    int64_t count = (int64_t)v.samples * h.samples;
    return g->a->mode == IG_ROI_MAX ? max : sum / (count > 1 ? (double)count : 1);
}

static double pooled(const struct region *g, int32_t by, int32_t bx, int32_t c)
{
    const struct ig_roi_pixels v = ig_roi_pixels_of(g->a, g->roi[1], g->roi[3], by, g->rows, g->h);
    const struct ig_roi_pixels h = ig_roi_pixels_of(g->a, g->roi[0], g->roi[2], bx, g->columns, g->w);
    double max = 0;
    int first = 1;
    for (int32_t y = v.from; y < v.to; y++)
        for (int32_t x = h.from; x < h.to; x++, first = 0) {
            double pixel = g->image[((int64_t)y * g->w + x) * g->c + c];
            if (first || pixel > max) max = pixel;
        }
    return max;
}

void roi_align_f32_nd__ref(const struct ig_call *call, struct ig_range range, void *scratch)
{
    const int32_t *in = call->in[0].shape->dims, *out = call->out[0].shape->dims;
    struct region g = {.a = call->attrs, .h = in[1], .w = in[2], .c = in[3], .rows = out[1], .columns = out[2]};
    float *to = call->out[0].data;
    (void)range, (void)scratch;
    for (int32_t r = 0; r < out[0]; r++) {
        g.roi = (const float *)call->in[1].data + 4 * r;
        g.image = (const float *)call->in[0].data + ig_get_index(&call->in[2], r, in[0]) * in[1] * in[2] * in[3];
        for (int32_t y = 0; y < g.rows; y++)
            for (int32_t x = 0; x < g.columns; x++)
                for (int32_t c = 0; c < g.c; c++) *to++ = (float)(g.a->mode == IG_ROI_POOL ? pooled(&g, y, x, c) : sampled(&g, y, x, c));
    }
}
