/*
 * Resize of the image's rows and columns, channels in vectors of 8.
 *   nearest by a whole factor: out[y][x] = in[y / k][x / k]
 *   linear: the four pixels around (sy, sx), sx = (x + 1/2)/scale - 1/2 or another of ONNX's maps; pixels outside the
 *           image are the nearest inside. First along x, then along y.
 */
#include <string.h>

#include "kernels_cpu/avx2/kernels.h"
#include "kernels_cpu/avx2/vec.h"
#include "kernels_cpu/common/resize.h"

void resize_f32_nearest__avx2(const struct ig_call *call, struct ig_range range, void *scratch)
{
    const struct ig_operand *in = &call->in[0], *out = &call->out[0];
    int32_t ky = out->h / in->h, kx = out->w / in->w, n = range.c1 - range.c0;
    (void)scratch;
    for (int32_t y = range.y0; y < range.y1; y++) {
        const float *src = ig_row_f32(in, y / ky) + range.c0;
        float *dst = ig_row_f32(out, y) + range.c0;
        for (int32_t x = 0; x < in->w; x++, src += in->pixel_stride)
            for (int32_t i = 0; i < kx; i++, dst += out->pixel_stride) memcpy(dst, src, (size_t)n * sizeof *dst);
    }
}

/* n channels between the pixels a b (upper row) and c d (lower). */
static void blend(const float *const p[4], float wx, float wy, float *y, int32_t n)
{
    __m256 x1 = _mm256_set1_ps(wx), x0 = _mm256_set1_ps(1 - wx), y1 = _mm256_set1_ps(wy), y0 = _mm256_set1_ps(1 - wy);
    for (int32_t i = 0; i < n; i += 8) {
        __m256 a = ig_load_upto8(p[0] + i, n - i), b = ig_load_upto8(p[1] + i, n - i);
        __m256 c = ig_load_upto8(p[2] + i, n - i), d = ig_load_upto8(p[3] + i, n - i);
        __m256 upper = _mm256_fmadd_ps(b, x1, _mm256_mul_ps(a, x0));
        __m256 lower = _mm256_fmadd_ps(d, x1, _mm256_mul_ps(c, x0));
        ig_store_upto8(y + i, _mm256_fmadd_ps(lower, y1, _mm256_mul_ps(upper, y0)), n - i);
    }
}

void resize_f32_linear__avx2(const struct ig_call *call, struct ig_range range, void *scratch)
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
