/*
 * Local response normalisation across channels:
 *   y[c] = x[c] / (bias + alpha/size * sum x[i]^2)^beta,  i in [c - floor((size-1)/2), c + ceil((size-1)/2)]
 */
#include <math.h>

#include "kernels_cpu/ref/ref.h"

static double normalise(const float *x, int32_t n, int32_t c, const struct ig_lrn *a)
{
    double sum = 0;
    int32_t before = (a->size - 1) / 2, after = a->size - 1 - before;
    for (int32_t i = c - before; i <= c + after; i++)
        if (i >= 0 && i < n) sum += (double)x[i] * x[i];
    return x[c] / pow(a->bias + (double)a->alpha / a->size * sum, a->beta);
}

void lrn_f32_1x1__ref(const struct ig_call *call, struct ig_range range, void *scratch)
{
    const struct ig_operand *in = &call->in[0], *out = &call->out[0];
    (void)scratch;
    for (int32_t y = range.y0; y < range.y1; y++)
        for (int32_t x = 0; x < out->w; x++)
            for (int32_t c = range.c0; c < range.c1; c++)
                ig_row_f32(out, y)[x * out->pixel_stride + c] =
                    (float)normalise(ig_row_f32(in, y) + x * in->pixel_stride, in->c, c, call->attrs);
}
