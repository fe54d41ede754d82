/* Walks over dense tensors: lines along one axis, and strided visits in the order of other extents. */
#ifndef KERNELS_CPU_REF_WALK_H
#define KERNELS_CPU_REF_WALK_H

#include "kernels_cpu/ref/element.h"

/* Product of the dims [from, to) of `s`. */
static inline int64_t ig_span(const struct ig_shape *s, int from, int to)
{
    int64_t n = 1;
    for (int i = from; i < to; i++) n *= s->dims[i];
    return n;
}

struct ig_lines {  /* element (o, i, k) of a tensor cut at an axis is at (o * n + i) * inner + k */
    int64_t outer; /* product of the dims before the axis */
    int64_t n;     /* the axis */
    int64_t inner; /* product of the dims after it: the stride along the axis */
};

static inline struct ig_lines ig_lines_of(const struct ig_shape *s, int axis)
{
    return (struct ig_lines){ig_span(s, 0, axis), s->rank ? s->dims[axis] : 1, ig_span(s, axis + 1, s->rank)};
}

enum { IG_WALK_DIMS = 2 * IG_MAX_RANK };

struct ig_walk {   /* a strided nest of loops, outermost first; none: one visit */
    int n;         /* loops */
    int64_t count; /* product of the extents */
    int64_t extent[IG_WALK_DIMS];
    int64_t stride[IG_WALK_DIMS]; /* elements; 0 repeats, negative runs backwards */
};

/* One more loop, innermost; start from {.count = 1}. */
static inline void ig_walk_add(struct ig_walk *w, int64_t extent, int64_t stride)
{
    w->extent[w->n] = extent;
    w->stride[w->n++] = stride;
    w->count *= extent;
}

/* The offset of visit i, 0 <= i < count. */
static inline int64_t ig_walk_at(const struct ig_walk *w, int64_t i)
{
    int64_t at = 0;
    for (int d = w->n - 1; d >= 0; i /= w->extent[d], d--) at += i % w->extent[d] * w->stride[d];
    return at;
}

/* Visits the dims of `s` whose bit in `mask` equals `set`; the others stay at 0. */
static inline struct ig_walk ig_walk_axes(const struct ig_shape *s, int mask, int set)
{
    struct ig_walk w = {.count = 1};
    for (int d = 0; d < s->rank; d++)
        if ((mask >> d & 1) == set) ig_walk_add(&w, s->dims[d], ig_span(s, d + 1, s->rank));
    return w;
}

/* Visits `s`, numpy-broadcast to `to`, in the order of `to`. */
static inline struct ig_walk ig_walk_broadcast(const struct ig_shape *s, const struct ig_shape *to)
{
    struct ig_walk w = {.count = 1};
    for (int d = 0; d < to->rank; d++) {
        int own = d - (to->rank - s->rank);
        int repeat = own < 0 || s->dims[own] == 1;
        ig_walk_add(&w, to->dims[d], repeat ? 0 : ig_span(s, own + 1, s->rank));
    }
    return w;
}

/* dst[i] = src[base + visit i] for all visits. */
static inline void ig_walk_copy(const struct ig_walk *w, void *dst, const void *src, int64_t base, int bytes)
{
    for (int64_t i = 0; i < w->count; i++) ig_move(dst, i, src, base + ig_walk_at(w, i), bytes);
}

#endif
