/* Sliding windows: where a kernel tap of an output pixel lies in the input image. */
#ifndef KERNELS_CPU_REF_WINDOW_H
#define KERNELS_CPU_REF_WINDOW_H

#include "graph/op.h"

/* Input position of tap k of output position o. */
static inline int32_t ig_tap(int32_t o, int32_t stride, int32_t pad, int32_t k, int32_t dilation)
{
    return o * stride - pad + k * dilation;
}

/* Input position whose tap k lands on output position o of a transposed window; -1: none. */
static inline int32_t ig_tap_back(int32_t o, int32_t stride, int32_t pad, int32_t k, int32_t dilation)
{
    int32_t at = o + pad - k * dilation;
    return at >= 0 && at % stride == 0 ? at / stride : -1;
}

static inline int ig_inside(int32_t i, int32_t n)
{
    return i >= 0 && i < n;
}

/* Taps of the window. */
static inline int32_t ig_taps(const struct ig_window *w)
{
    return w->kd * w->kh * w->kw;
}

#endif
