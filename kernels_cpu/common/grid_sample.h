/* Scratch of samples at the points of a grid: the taps of some points. */
#ifndef KERNELS_CPU_COMMON_GRID_SAMPLE_H
#define KERNELS_CPU_COMMON_GRID_SAMPLE_H

#include "kernels_cpu/kernel.h"

enum { IG_SAMPLE_POINTS = 256 };

struct ig_sample_tap {
    int32_t at;               /* element of a channel */
    float weight;
};

/* Taps that a point has at most. */
static inline int32_t ig_sample_most(const struct ig_call *call)
{
    const int32_t mode = ((const struct ig_grid_sample *)call->attrs)->mode, n = mode == IG_NEAREST ? 1 : mode == IG_LINEAR ? 2 : 4;
    return call->in[0].shape->rank == 5 ? n * n * n : n * n;
}

/* Bytes: how many taps each point has, and they. */
static inline size_t ig_sample_bytes(const struct ig_call *call)
{
    return IG_SAMPLE_POINTS * (sizeof(int32_t) + (size_t)ig_sample_most(call) * sizeof(struct ig_sample_tap));
}

#endif
