/* Pooling over the whole image: maximum, average, (sum |x|^p)^(1/p). */
#include <math.h>

#include "kernels_cpu/ref/element.h"
#include "kernels_cpu/ref/ref.h"

static double pool(const struct ig_operand *in, const struct ig_global_pool *a, int32_t c)
{
    double sum = 0, max = -INFINITY;
    for (int32_t y = 0; y < in->h; y++)
        for (int32_t x = 0; x < in->w; x++) {
            double v = ig_load(in, y, x * in->pixel_stride + c);
            max = v > max ? v : max;
            sum += a->kind == IG_POOL_LP ? pow(fabs(v), a->p) : v;
        }
    if (a->kind == IG_POOL_MAX) return max;
    return a->kind == IG_POOL_LP ? pow(sum, 1.0 / a->p) : sum / ((double)in->h * in->w);
}

void global_pool_f32_1x1__ref(const struct ig_call *call, struct ig_range range, void *scratch)
{
    (void)scratch;
    if (range.y0 == range.y1) return;
    for (int32_t c = range.c0; c < range.c1; c++)
        ig_store(&call->out[0], 0, c, (float)pool(&call->in[0], call->attrs, c));
}
