/* Groups of normalisations that lie side by side. */
#ifndef KERNELS_CPU_COMMON_NORM_H
#define KERNELS_CPU_COMMON_NORM_H

#include "kernels_cpu/kernel.h"

/* Elements of a group, which are all of the last dims; 0: they are others. Not of instances or groups. */
static inline int64_t ig_norm_run(const struct ig_norm *a, const struct ig_shape *s)
{
    const int32_t all = (1 << s->rank) - 1, from = all - ((1 << a->axis) - 1);
    const int32_t mask = a->kind == IG_NORM_MVN ? a->mask : a->kind == IG_NORM_LP ? 1 << a->axis : from;
    int64_t n = 1;
    int32_t d = s->rank - 1;
    for (; d >= 0 && (mask >> d & 1 || s->dims[d] == 1); d--) n *= s->dims[d];
    for (; d >= 0; d--)
        if (mask >> d & 1 && s->dims[d] > 1) return 0;
    return n;
}

#endif
