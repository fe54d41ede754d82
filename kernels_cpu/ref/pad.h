/* Where a padded coordinate takes its element from. */
#ifndef KERNELS_CPU_REF_PAD_H
#define KERNELS_CPU_REF_PAD_H

#include <stdint.h>

#include "graph/op.h"

/* Coordinate i, which may lie outside [0, m), as one inside; -1: the constant. */
static inline int64_t ig_pad_inside(int64_t i, int64_t m, int32_t mode)
{
    if (i >= 0 && i < m) return i;
    if (mode == IG_PAD_CONSTANT) return -1;
    if (mode == IG_PAD_EDGE || m == 1) return i < 0 ? 0 : m - 1;
    int64_t period = mode == IG_PAD_WRAP ? m : 2 * (m - 1);
    i = (i % period + period) % period;
    return i < m ? i : period - i;
}

#endif
