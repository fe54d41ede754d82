/* Linear resize along one dim: where an output coordinate lies in the input. */
#ifndef KERNELS_CPU_COMMON_RESIZE_H
#define KERNELS_CPU_COMMON_RESIZE_H

#include "graph/op.h"

struct ig_between {      /* (1 - weight) in[lo] + weight in[hi] */
    int32_t lo, hi;
    float weight;
};

/* Coordinate in the input, by ONNX's definition of the mode; half_pixel where it is none of the others here. */
static inline double ig_resize_coord(int32_t coord, int32_t at, int32_t in, int32_t out, float scale)
{
    switch (coord) {
    case IG_ASYMMETRIC: return at / (double)scale;
    case IG_ALIGN_CORNERS: return out > 1 ? at * (double)(in - 1) / (out - 1) : 0;
    case IG_PYTORCH_HALF_PIXEL: return out > 1 ? (at + 0.5) / (double)scale - 0.5 : 0;
    default: return (at + 0.5) / (double)scale - 0.5;
    }
}

static inline struct ig_between ig_resize_between(int32_t coord, int32_t at, int32_t in, int32_t out, float scale)
{
    double s = ig_resize_coord(coord, at, in, out, scale);
    int32_t lo = (int32_t)s - (s < (int32_t)s), hi = lo + 1;
    struct ig_between b = {lo, hi, (float)(s - lo)};
    b.lo = lo < 0 ? 0 : lo >= in ? in - 1 : lo;
    b.hi = hi < 0 ? 0 : hi >= in ? in - 1 : hi;
    return b;
}

#endif
