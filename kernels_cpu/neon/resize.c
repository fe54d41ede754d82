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

/* n channels from `from` on, up to four, of floats or of halves, the rest zero. */
static inline __attribute__((always_inline)) float32x4_t load(const void *from, int32_t i, int32_t n, const int half)
{
    const uint16_t *h = (const uint16_t *)from + i;
    uint16_t some[4] = {0};
    if (!half) return ig_load_upto4((const float *)from + i, n);
    if (n < 4) h = memcpy(some, h, (size_t)n * sizeof *h);
    return vcvt_f32_f16(vreinterpret_f16_u16(vld1_u16(h)));
}

static inline __attribute__((always_inline)) void store(void *to, int32_t i, float32x4_t v, int32_t n, const int half)
{
    uint16_t some[4], *h = (uint16_t *)to + i;
    if (!half) {
        ig_store_upto4((float *)to + i, v, n);
        return;
    }
    vst1_u16(n < 4 ? some : h, vreinterpret_u16_f16(vcvt_f16_f32(v)));
    if (n < 4) memcpy(h, some, (size_t)n * sizeof *h);
}

/* n channels between the pixels a b (upper row) and c d (lower). */
static inline __attribute__((always_inline)) void blend(const char *const p[4], float wx, float wy, void *y, int32_t n, const int in_half,
                                                        const int out_half)
{
    float32x4_t x1 = vdupq_n_f32(wx), x0 = vdupq_n_f32(1 - wx), y1 = vdupq_n_f32(wy),
                y0 = vdupq_n_f32(1 - wy);
    for (int32_t i = 0; i < n; i += 4) {
        float32x4_t a = load(p[0], i, n - i, in_half), b = load(p[1], i, n - i, in_half);
        float32x4_t c = load(p[2], i, n - i, in_half), d = load(p[3], i, n - i, in_half);
        float32x4_t upper = vfmaq_f32(vmulq_f32(a, x0), b, x1);
        float32x4_t lower = vfmaq_f32(vmulq_f32(c, x0), d, x1);
        store(y, i, vfmaq_f32(vmulq_f32(upper, y0), lower, y1), n - i, out_half);
    }
}

static inline __attribute__((always_inline)) void linear(const struct ig_call *call, struct ig_range range, const int in_half, const int out_half)
{
    const struct ig_resize *r = (const struct ig_resize *)call->attrs;
    const struct ig_operand *in = &call->in[0], *out = &call->out[0];
    struct ig_resize_dim rows = ig_resize_dim_of(r->coord, in->h, out->h, r->scale[1]);
    struct ig_resize_dim columns = ig_resize_dim_of(r->coord, in->w, out->w, r->scale[2]);
    const int32_t in_bytes = in_half ? 2 : 4, out_bytes = out_half ? 2 : 4;
    for (int32_t y = range.y0; y < range.y1; y++) {
        struct ig_between v = ig_resize_between(&rows, y);
        const char *upper = (const char *)ig_row(in, v.lo, in_bytes) + range.c0 * in_bytes;
        const char *lower = (const char *)ig_row(in, v.hi, in_bytes) + range.c0 * in_bytes;
        char *dst = (char *)ig_row(out, y, out_bytes) + range.c0 * out_bytes;
        for (int32_t x = 0; x < out->w; x++, dst += out->pixel_stride * out_bytes) {
            struct ig_between h = ig_resize_between(&columns, x);
            const int64_t left = h.lo * in->pixel_stride * in_bytes, right = h.hi * in->pixel_stride * in_bytes;
            const char *p[4] = {upper + left, upper + right, lower + left, lower + right};
            blend(p, h.weight, v.weight, dst, range.c1 - range.c0, in_half, out_half);
        }
    }
}

void resize_f32_linear__neon(const struct ig_call *call, struct ig_range range, void *scratch)
{
    (void)scratch;
    linear(call, range, 0, 0);
}

void resize_f16_linear__neon(const struct ig_call *call, struct ig_range range, void *scratch)
{
    const int in_half = call->in[0].shape->type == IG_F16, out_half = call->out[0].shape->type == IG_F16;
    (void)scratch;
    if (in_half && out_half) linear(call, range, 1, 1);
    else if (in_half) linear(call, range, 1, 0);
    else linear(call, range, 0, 1);
}
