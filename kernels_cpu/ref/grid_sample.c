/*
 * Samples of an image at the points of a grid, plain ONNX layout: x [N,C,(D,)H,W], grid [N,(D,)H,W,2 or 3]
 * holds (x, y(, z)) in [-1, 1]. Nearest, linear or cubic (Keys, a = -0.75) taps in every dimension; what lies
 * outside is zero, the border, or reflected.
 */
#include "kernels_cpu/ref/grid_sample.h"
#include "kernels_cpu/ref/ref.h"
#include "kernels_cpu/ref/walk.h"

int grid_sample_f32_nd__supports(const struct ig_call *call)
{
    const struct ig_shape *x = call->in[0].shape, *grid = call->in[1].shape;
    return ig_ref_is_f32(call) && (x->rank == 4 || x->rank == 5) && grid->rank == x->rank &&
           grid->dims[grid->rank - 1] == x->rank - 2;
}

/* Sum over the taps of the dims from d on; `at`: offset so far. */
static double sample(const float *image, const struct ig_shape *in, const struct ig_sample_taps *taps, int d, int64_t at)
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
            struct ig_sample_taps taps[IG_SAMPLE_DIMS];
            for (int d = 0; d < dims; d++)
                taps[d] = ig_sample_taps_of(call->attrs, point[dims - 1 - d], in->dims[d + 2]);
            for (int32_t c = 0; c < out->dims[1]; c++) {
                const float *image =
                    (const float *)call->in[0].data + ((int64_t)n * in->dims[1] + c) * in_plane;
                ((float *)call->out[0].data)[((int64_t)n * out->dims[1] + c) * points + i] =
                    (float)sample(image, in, taps, 0, 0);
            }
        }
}
