/*
 * Resize of the image's rows and columns, channels in vectors of 4.
 *   nearest by a whole factor: out[y][x] = in[y / k][x / k]
 *   linear: the four pixels around (sy, sx), sx = (x + 1/2)/scale - 1/2 or another of ONNX's maps; pixels
 *           outside the image are the nearest inside. First along x, then along y.
 */
#include <string.h>

#include "kernels_cpu/common/resize.h"
#include "kernels_cpu/neon/kernels.h"
#include "kernels_cpu/neon/vec.h"

void resize_f32_nearest__neon(const struct ig_call *call, struct ig_range range, void *scratch)
{
    (void)scratch;
    ig_resize_nearest(call, range, sizeof(float));
}

void resize_b16_nearest__neon(const struct ig_call *call, struct ig_range range, void *scratch)
{
    (void)scratch;
    ig_resize_nearest(call, range, sizeof(uint16_t));
}

void resize_b8_nearest__neon(const struct ig_call *call, struct ig_range range, void *scratch)
{
    (void)scratch;
    ig_resize_nearest(call, range, 1);
}

/* n channels between the pixels a b (upper row) and c d (lower). */
static void blend(const float *const p[4], float wx, float wy, float *y, int32_t n)
{
    float32x4_t x1 = vdupq_n_f32(wx), x0 = vdupq_n_f32(1 - wx), y1 = vdupq_n_f32(wy),
                y0 = vdupq_n_f32(1 - wy);
    for (int32_t i = 0; i < n; i += 4) {
        float32x4_t a = ig_load_upto4(p[0] + i, n - i), b = ig_load_upto4(p[1] + i, n - i);
        float32x4_t c = ig_load_upto4(p[2] + i, n - i), d = ig_load_upto4(p[3] + i, n - i);
        float32x4_t upper = vfmaq_f32(vmulq_f32(a, x0), b, x1);
        float32x4_t lower = vfmaq_f32(vmulq_f32(c, x0), d, x1);
        ig_store_upto4(y + i, vfmaq_f32(vmulq_f32(upper, y0), lower, y1), n - i);
    }
}

void resize_f32_linear__neon(const struct ig_call *call, struct ig_range range, void *scratch)
{
    const struct ig_resize *r = (const struct ig_resize *)call->attrs;
    const struct ig_operand *in = &call->in[0], *out = &call->out[0];
    struct ig_resize_dim rows = ig_resize_dim_of(r->coord, in->h, out->h, r->scale[1]);
    struct ig_resize_dim columns = ig_resize_dim_of(r->coord, in->w, out->w, r->scale[2]);
    (void)scratch;
    for (int32_t y = range.y0; y < range.y1; y++) {
        struct ig_between v = ig_resize_between(&rows, y);
        const float *upper = ig_row_f32(in, v.lo) + range.c0, *lower = ig_row_f32(in, v.hi) + range.c0;
        float *dst = ig_row_f32(out, y) + range.c0;
        for (int32_t x = 0; x < out->w; x++, dst += out->pixel_stride) {
            struct ig_between h = ig_resize_between(&columns, x);
            const float *p[4] = {upper + h.lo * in->pixel_stride, upper + h.hi * in->pixel_stride,
                                 lower + h.lo * in->pixel_stride, lower + h.hi * in->pixel_stride};
            blend(p, h.weight, v.weight, dst, range.c1 - range.c0);
        }
    }
}
