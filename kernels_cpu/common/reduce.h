/* A reduction over neighbouring dims, as of [outer, n, inner]; a dim of one element is any of these. */
#ifndef KERNELS_CPU_COMMON_REDUCE_H
#define KERNELS_CPU_COMMON_REDUCE_H

#include "kernels_cpu/kernel.h"

struct ig_reduced {
    int64_t outer, n, inner; /* products of the dims before those that go, of these, and of those behind; 0: they are no neighbours */
};

static inline struct ig_reduced ig_reduced_of(const struct ig_call *call)
{
    const struct ig_shape *s = call->in[0].shape;
    const int32_t mask = ((const struct ig_reduce *)call->attrs)->mask;
    struct ig_reduced r = {1, 1, 1};
    int32_t d = 0;
    for (; d < s->rank && (s->dims[d] == 1 || !(mask >> d & 1)); d++) r.outer *= s->dims[d];
    for (; d < s->rank && (s->dims[d] == 1 || mask >> d & 1); d++) r.n *= s->dims[d];
    for (; d < s->rank && (s->dims[d] == 1 || !(mask >> d & 1)); d++) r.inner *= s->dims[d];
    if (d < s->rank) r = (struct ig_reduced){0, 0, 0};
    return r;
}

#endif
