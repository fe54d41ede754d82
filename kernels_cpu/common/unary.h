/* The walk of element-wise functions of one operand: a row at a time where rows have no gaps. */
#ifndef KERNELS_CPU_COMMON_UNARY_H
#define KERNELS_CPU_COMMON_UNARY_H

#include "kernels_cpu/kernel.h"

/* y[i] = act(x[i]), i < n; y may be x. */
typedef void ig_unary_run_fn(float *y, const float *x, int64_t n, const struct ig_act *act);

static inline void ig_unary_rows(const struct ig_call *call, struct ig_range range, ig_unary_run_fn *act_run)
{
    const struct ig_operand *in = &call->in[0], *out = &call->out[0];
    const struct ig_act *act = &((const struct ig_unary_attr *)call->attrs)->act;
    int32_t c = out->c, n = range.c1 - range.c0, w = out->w;
    int dense = n == c && in->pixel_stride == c && out->pixel_stride == c;
    for (int32_t y = range.y0; y < range.y1; y++) {
        const float *x = ig_row_f32(in, y) + range.c0;
        float *p = ig_row_f32(out, y) + range.c0;
        if (dense)
            act_run(p, x, (int64_t)w * c, act);
        else
            for (int32_t i = 0; i < w; i++, x += in->pixel_stride, p += out->pixel_stride) act_run(p, x, n, act);
    }
}

#endif
