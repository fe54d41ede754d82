/* The walk of conversions to floats: a row at a time where rows have no gaps. */
#ifndef KERNELS_CPU_COMMON_CAST_H
#define KERNELS_CPU_COMMON_CAST_H

#include "kernels_cpu/kernel.h"

/* y[i] = x[i], i < n, of type `type`. */
typedef void ig_cast_run_fn(float *y, const char *x, int64_t n, int type);

static inline void ig_cast_rows(const struct ig_call *call, struct ig_range range, ig_cast_run_fn *cast_run)
{
    const struct ig_operand *in = &call->in[0], *out = &call->out[0];
    const int32_t type = in->shape->type, bytes = ig_type_bytes(type), n = range.c1 - range.c0;
    const int joined = in->pixel_stride == n && out->pixel_stride == n;
    for (int32_t y = range.y0; y < range.y1; y++) {
        const char *from = (const char *)ig_row(in, y, bytes) + range.c0 * bytes;
        float *to = ig_row_f32(out, y) + range.c0;
        if (joined) cast_run(to, from, (int64_t)n * out->w, type);
        else
            for (int32_t x = 0; x < out->w; x++, from += in->pixel_stride * bytes, to += out->pixel_stride) cast_run(to, from, n, type);
    }
}

#endif
