/* The walk of conversions: a row at a time where rows have no gaps. */
#ifndef KERNELS_CPU_COMMON_CAST_H
#define KERNELS_CPU_COMMON_CAST_H

#include "kernels_cpu/kernel.h"

/* y[i] = x[i], i < n, of the types of the call. */
typedef void ig_cast_run_fn(void *y, const char *x, int64_t n, int from, int to);

static inline void ig_cast_rows(const struct ig_call *call, struct ig_range range, ig_cast_run_fn *cast_run)
{
    const struct ig_operand *in = &call->in[0], *out = &call->out[0];
    const int32_t type = in->shape->type, bytes = ig_type_bytes(type), as = out->shape->type, wide = ig_type_bytes(as), n = range.c1 - range.c0;
    const int joined = in->pixel_stride == n && out->pixel_stride == n;
    for (int32_t y = range.y0; y < range.y1; y++) {
        const char *from = (const char *)ig_row(in, y, bytes) + range.c0 * bytes;
        char *to = (char *)ig_row(out, y, wide) + range.c0 * wide;
        if (joined) cast_run(to, from, (int64_t)n * out->w, type, as);
        else
            for (int32_t x = 0; x < out->w; x++, from += in->pixel_stride * bytes, to += out->pixel_stride * wide) cast_run(to, from, n, type, as);
    }
}

/* Between any two types but f16, as kernels_cpu/ref/cast.c has it. */
ig_cast_run_fn ig_cast_any;

#endif
