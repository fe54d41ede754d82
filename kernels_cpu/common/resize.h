/* Resizes: nearest by whole factors; linear along one dim: where an output coordinate lies in the input. */
#ifndef KERNELS_CPU_COMMON_RESIZE_H
#define KERNELS_CPU_COMMON_RESIZE_H

#include <string.h>

#include "graph/op.h"
#include "kernels_cpu/kernel.h"

struct ig_resize_dim {
    int32_t coord;       /* enum ig_resize_coord: one that ig_supports_resize_linear takes */
    int32_t in, out;     /* extents */
    double width;        /* what `out` would be if it were not whole */
};

struct ig_between {      /* (1 - weight) in[lo] + weight in[hi] */
    int32_t lo, hi;
    float weight;
};

static inline struct ig_resize_dim ig_resize_dim_of(int32_t coord, int32_t in, int32_t out, float scale)
{
    struct ig_resize_dim d = {coord, in, out, (double)scale * in};
    double off = d.width - out;
    if ((off < 0 ? -off : off) < 1e-6 * out + 1e-6) d.width = out; /* out / in, rounded to float on its way */
    return d;
}

/* Coordinate in the input of output `at`, by ONNX's definitions. */
static inline double ig_resize_coord(const struct ig_resize_dim *d, int32_t at)
{
    switch (d->coord) {
    case IG_ASYMMETRIC: return at * (double)d->in / d->width;
    case IG_ALIGN_CORNERS: return d->width > 1 ? at * (double)(d->in - 1) / (d->width - 1) : 0;
    case IG_PYTORCH_HALF_PIXEL: return d->out > 1 ? (at + 0.5) * d->in / d->width - 0.5 : 0;
    default: return (at + 0.5) * d->in / d->width - 0.5;
    }
}

static inline struct ig_between ig_resize_between(const struct ig_resize_dim *d, int32_t at)
{
    double s = ig_resize_coord(d, at);
    int32_t lo = (int32_t)s - (s < (int32_t)s), hi = lo + 1, last = d->in - 1;
    struct ig_between b = {lo, hi, (float)(s - lo)};
    b.lo = lo < 0 ? 0 : lo > last ? last : lo;
    b.hi = hi < 0 ? 0 : hi > last ? last : hi;
    return b;
}

/* out[y][x] = in[y / ky][x / kx], elements of so many bytes. */
static inline void ig_resize_nearest(const struct ig_call *call, struct ig_range range, int32_t bytes)
{
    const struct ig_operand *in = &call->in[0], *out = &call->out[0];
    int32_t ky = out->h / in->h, kx = out->w / in->w;
    size_t n = (size_t)(range.c1 - range.c0) * (size_t)bytes;
    for (int32_t y = range.y0; y < range.y1; y++) {
        const char *src = (const char *)ig_row(in, y / ky, bytes) + range.c0 * bytes;
        char *dst = (char *)ig_row(out, y, bytes) + range.c0 * bytes;
        for (int32_t x = 0; x < in->w; x++, src += in->pixel_stride * bytes)
            for (int32_t i = 0; i < kx; i++, dst += out->pixel_stride * bytes) memcpy(dst, src, n);
    }
}

#endif
