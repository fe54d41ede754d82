/*
 * Local response normalisation across channels, kernels_cpu/ref/lrn.c: a pixel's squares stand between zeros in scratch, so that a window's sum
 * is of `size` vectors a channel apart. v^(3/4) is sqrt(v) sqrt(sqrt(v)), other powers are e^(beta ln v).
 */
#include <string.h>

#include "kernels_cpu/neon/kernels.h"
#include "kernels_cpu/neon/vec.h"
#include "kernels_cpu/neon/vmath.h"

#define INLINE static inline __attribute__((always_inline))

/* squares[i] of channel c0 - before + i, to c1 + after. */
static void square(const float *x, int32_t n, int32_t first, int32_t end, float *squares)
{
    const int32_t c0 = first < 0 ? 0 : first, c1 = end < n ? end : n;
    memset(squares, 0, (size_t)(end - first) * sizeof *squares);
    squares -= first;
    for (int32_t c = c0; c < c1; c += 4) {
        const float32x4_t v = ig_load_upto4(x + c, c1 - c);
        ig_store_upto4(squares + c, vmulq_f32(v, v), c1 - c);
    }
}

INLINE float32x4_t divided(float32x4_t x, float32x4_t v, float beta)
{
    const float32x4_t root = vsqrtq_f32(v);
    if (beta == 0.75f) return vdivq_f32(x, vmulq_f32(root, vsqrtq_f32(root)));
    if (beta == 0.5f) return vdivq_f32(x, root);
    return vmulq_f32(x, ig_exp4(vmulq_f32(vdupq_n_f32(-beta), ig_log4(v))));
}

static void normalise(const float *x, float *y, int32_t n, const float *squares, const struct ig_lrn *a)
{
    const float32x4_t bias = vdupq_n_f32(a->bias), alpha = vdupq_n_f32(a->alpha / (float)a->size);
    for (int32_t c = 0; c < n; c += 4) {
        float32x4_t sum = vld1q_f32(squares + c);
        for (int32_t i = 1; i < a->size; i++) sum = vaddq_f32(sum, vld1q_f32(squares + c + i));
        ig_store_upto4(y + c, divided(ig_load_upto4(x + c, n - c), vfmaq_f32(bias, alpha, sum), a->beta), n - c);
    }
}

void lrn_f32_4__neon(const struct ig_call *call, struct ig_range range, void *scratch)
{
    const struct ig_operand *in = &call->in[0], *out = &call->out[0];
    const struct ig_lrn *a = (const struct ig_lrn *)call->attrs;
    const int32_t before = (a->size - 1) / 2, first = range.c0 - before, end = range.c1 + a->size - 1 - before;
    for (int32_t y = range.y0; y < range.y1; y++)
        for (int32_t x = 0; x < out->w; x++) {
            const float *from = ig_row_f32(in, y) + x * in->pixel_stride;
            square(from, in->c, first, end, (float *)scratch);
            normalise(from + range.c0, ig_row_f32(out, y) + x * out->pixel_stride + range.c0, range.c1 - range.c0, (const float *)scratch, a);
        }
}
