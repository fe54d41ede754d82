/* Walks over tensors, when a plan is made: nested loops with a stride in each of a few tensors. */
#ifndef KERNELS_GPU_LAUNCH_LOOPS_H
#define KERNELS_GPU_LAUNCH_LOOPS_H

#include "kernels_cpu/ref/walk.h"
#include "kernels_gpu/launch/launch.h"
#include "kernels_gpu/params_tensor.h"

enum { IG_GPU_TENSORS = 4 };

struct ig_gpu_loops {    /* outermost first; loops of one visit are left out, those that run on as one are one */
    int n;
    int32_t dims[IG_WALK_DIMS], at[IG_GPU_TENSORS][IG_WALK_DIMS];
};

/* One more loop, innermost, with its strides. */
static inline void ig_gpu_loop(struct ig_gpu_loops *l, int64_t extent, int64_t a, int64_t b, int64_t c, int64_t d)
{
    const int64_t at[IG_GPU_TENSORS] = {a, b, c, d};
    int joins = l->n > 0, i = l->n - 1;
    if (extent == 1) return;
    for (int k = 0; k < IG_GPU_TENSORS && joins; k++) joins = l->at[k][i] == at[k] * extent;
    if (!joins) i = l->n++;
    l->dims[i] = (int32_t)(joins ? l->dims[i] * extent : extent);
    for (int k = 0; k < IG_GPU_TENSORS; k++) l->at[k][i] = (int32_t)at[k];
}

static inline int32_t ig_gpu_visits(const struct ig_gpu_loops *l)
{
    int32_t count = 1;
    for (int i = 0; i < l->n; i++) count *= l->dims[i];
    return count;
}

/* Copies the first n of `from`, the rest 0. */
static inline void ig_gpu_put_loops(int32_t *to, const int32_t *from, int n)
{
    memcpy(to, from, (size_t)n * sizeof *to);
}

/* i / d for i below 2^31 as the high half of i times it, shifted (Granlund, Montgomery 1994); 0 of 1, which it cannot say. */
static inline uint32_t ig_gpu_inverse(int32_t d, uint32_t *shift)
{
    *shift = 0;
    while ((int64_t)2 << *shift < d) ++*shift;
    return d > 1 ? (uint32_t)((((uint64_t)1 << (32 + *shift)) + (uint64_t)d - 1) / (uint64_t)d) : 0;
}

/* Stride of dim d of `to` in `s`, which is broadcast to it from the right: 0 where it repeats. */
static inline int64_t ig_gpu_broadcast(const struct ig_shape *s, const struct ig_shape *to, int d)
{
    int own = d - (to->rank - s->rank);
    return own < 0 || s->dims[own] == 1 ? 0 : ig_span(s, own + 1, s->rank);
}

/* Whole in memory, and addressed by 32 bits. */
static inline int ig_gpu_addresses(const struct ig_operand *o)
{
    return !o->shape || (o->ring_rows == o->h && (int64_t)o->h * o->row_stride < INT32_MAX / 2 && ig_count(o->shape) < INT32_MAX / 2);
}

static inline int ig_gpu_addresses_all(const struct ig_call *call)
{
    for (int i = 0; i < call->n_in; i++)
        if (!ig_gpu_addresses(&call->in[i])) return 0;
    for (int i = 0; i < call->n_out; i++)
        if (!ig_gpu_addresses(&call->out[i])) return 0;
    return 1;
}

/* Data of input or output k; NULL where it is absent. */
static inline void *ig_gpu_in(const struct ig_call *call, int k)
{
    return k < call->n_in && call->in[k].shape ? call->in[k].data : NULL;
}

static inline void *ig_gpu_out(const struct ig_call *call, int k)
{
    return k < call->n_out && call->out[k].shape ? call->out[k].data : NULL;
}

/* One launch of a thread for each of `count`, `threads` a block. */
static inline int ig_gpu_each(struct ig_gpu_launch *to, const char *function, int64_t count, uint32_t threads, uint32_t pointers,
                              const void *params, size_t bytes)
{
    ig_gpu_fill(to, function, ig_gpu_ceil(count, (int32_t)threads), 1, 1, threads, pointers, params, bytes);
    return 1;
}

/* The same with up to IG_GPU_SOME of them a thread, where there are many. */
static inline int ig_gpu_some(struct ig_gpu_launch *to, const char *function, int64_t count, uint32_t pointers, const void *params,
                              size_t bytes)
{
    ig_gpu_fill(to, function, ig_gpu_some_blocks(count), 1, 1, 128, pointers, params, bytes);
    return 1;
}

/* A strided copy: in is tensor 0 of the loops, out tensor 1. */
int ig_gpu_move_loops(const struct ig_gpu_loops *l, const void *in, void *out, int32_t bytes, struct ig_gpu_launch *to);

/* Input k as a zero point. */
struct ig_gpu_scaled ig_gpu_scaled_of(const struct ig_call *call, int k);

#endif
