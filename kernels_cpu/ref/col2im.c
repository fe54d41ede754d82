/*
 * Columns back to an image, plain ONNX layout: x [N, C * block, L] -> y [N, C, image]; y is the sum of all
 * column elements whose window position and tap fall on it.
 */
#include "kernels_cpu/ref/ref.h"

/* Window positions along dimension d. */
static int32_t positions(const struct ig_col2im *a, int d)
{
    int32_t padded = a->image[d] + a->begin[d] + a->end[d];
    return (padded - a->dilation[d] * (a->block[d] - 1) - 1) / a->stride[d] + 1;
}

static int64_t product(const int32_t *n, int rank)
{
    int64_t p = 1;
    for (int d = 0; d < rank; d++) p *= n[d];
    return p;
}

/* The window position from which tap `tap` (of all dims) falls on pixel `pixel`; -1: none. */
static int64_t position(const struct ig_col2im *a, int64_t pixel, int64_t tap)
{
    int64_t at = 0, step = 1;
    for (int d = a->rank - 1; d >= 0; d--) {
        int64_t p = pixel % a->image[d] + a->begin[d] - tap % a->block[d] * a->dilation[d];
        if (p < 0 || p % a->stride[d] || p / a->stride[d] >= positions(a, d)) return -1;
        at += p / a->stride[d] * step;
        step *= positions(a, d);
        pixel /= a->image[d];
        tap /= a->block[d];
    }
    return at;
}

void col2im_f32_nd__ref(const struct ig_call *call, struct ig_range range, void *scratch)
{
    const struct ig_col2im *a = call->attrs;
    const struct ig_shape *in = call->in[0].shape, *out = call->out[0].shape;
    int64_t planes = (int64_t)out->dims[0] * out->dims[1], pixels = product(a->image, a->rank);
    int64_t taps = product(a->block, a->rank), columns = in->dims[in->rank - 1];
    (void)range, (void)scratch;
    for (int64_t plane = 0; plane < planes; plane++)
        for (int64_t pixel = 0; pixel < pixels; pixel++) {
            double sum = 0;
            for (int64_t tap = 0; tap < taps; tap++) {
                int64_t at = position(a, pixel, tap);
                if (at >= 0) sum += ((const float *)call->in[0].data)[(plane * taps + tap) * columns + at];
            }
            ((float *)call->out[0].data)[plane * pixels + pixel] = (float)sum;
        }
}
