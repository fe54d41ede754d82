/*
 * A reduction, as of [more.., n, inner]: inner are the dims that stay behind the last that goes, n are those that go before them, and others
 * farther out go or stay one by one. A dim of one element is any of these.
 */
#ifndef KERNELS_CPU_COMMON_REDUCE_H
#define KERNELS_CPU_COMMON_REDUCE_H

#include "kernels_cpu/kernel.h"
#include "kernels_cpu/ref/walk.h"

struct ig_reduced {
    int64_t n, inner;           /* products of these dims */
    struct ig_walk kept, gone;  /* those farther out that stay, and that go */
};

static inline struct ig_reduced ig_reduced_of(const struct ig_call *call)
{
    const struct ig_shape *s = call->in[0].shape;
    const int32_t mask = ((const struct ig_reduce *)call->attrs)->mask;
    struct ig_reduced r = {.n = 1, .inner = 1, .kept = {.count = 1}, .gone = {.count = 1}};
    int32_t d = s->rank;
    for (; d > 0 && (s->dims[d - 1] == 1 || !(mask >> (d - 1) & 1)); d--) r.inner *= s->dims[d - 1];
    for (; d > 0 && (s->dims[d - 1] == 1 || mask >> (d - 1) & 1); d--) r.n *= s->dims[d - 1];
    for (int32_t i = 0; i < d; i++)
        if (s->dims[i] > 1) ig_walk_add(mask >> i & 1 ? &r.gone : &r.kept, s->dims[i], ig_span(s, i + 1, s->rank));
    return r;
}

/* Where output o of those that n and inner leave begins. */
static inline int64_t ig_reduced_at(const struct ig_reduced *r, int64_t o)
{
    return r->gone.n ? ig_walk_at(&r->kept, o) : o * r->n * r->inner;
}

#endif
