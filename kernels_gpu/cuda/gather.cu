/*
 * Gathers: slices along an axis, elements along an axis, slices by tuples of indices. Scatters into a copy, whose updates
 * go in their order: those that could meet are one thread's.
 */
#include "kernels_gpu/cuda/element.cuh"

GPU_KERNEL(128, 8, gather_axis, ig_gpu_gather)
{
    const int i = blockIdx.x * 128 + threadIdx.x;
    if (i >= p.count) return;
    const int rest = i % p.inner, which = i / p.inner % p.taken, outer = i / p.inner / p.taken;
    const int at = get_index(p.index, p.index_type, which, p.extent);
    move(p.out, i, p.in, (outer * p.extent + at) * p.inner + rest, p.bytes);
}

GPU_KERNEL(128, 8, gather_elements, ig_gpu_gather)
{
    const int i = blockIdx.x * 128 + threadIdx.x;
    if (i >= p.count) return;
    const int from = walk(p.dims, p.in_at, p.n, i) + get_index(p.index, p.index_type, i, p.extent) * p.stride;
    move(p.out, i, p.in, from, p.bytes);
}

/* The slice that tuple t names, of those from `at` on. */
static __device__ __forceinline__ int slice_of(const ig_gpu_gather &p, int at, int t)
{
    for (int d = 0; d < p.tuple; d++)
        at = at * p.dims[d] + get_index(p.index, p.index_type, t * p.tuple + d, p.dims[d]);
    return at;
}

GPU_KERNEL(128, 8, gather_nd, ig_gpu_gather)
{
    const int i = blockIdx.x * 128 + threadIdx.x;
    if (i >= p.count) return;
    const int t = i / p.run;
    move(p.out, i, p.in, slice_of(p, t / p.per_batch, t) * p.run + i % p.run, p.bytes);
}

static __device__ __forceinline__ float join(int mode, float a, float b)
{
    if (mode == IG_SCATTER_ADD) return a + b;
    if (mode == IG_SCATTER_MUL) return a * b;
    return mode == IG_SCATTER_MAX ? fmaxf(a, b) : fminf(a, b);
}

static __device__ __forceinline__ long long join_integer(int mode, long long a, long long b)
{
    if (mode == IG_SCATTER_ADD) return (long long)((unsigned long long)a + (unsigned long long)b);
    if (mode == IG_SCATTER_MUL) return (long long)((unsigned long long)a * (unsigned long long)b);
    return (mode == IG_SCATTER_MAX) == (a > b) ? a : b;
}

/* out[at] = out[at] joined with update i. */
static __device__ __forceinline__ void update(const ig_gpu_gather &p, int at, int i)
{
    if (p.mode == IG_SCATTER_NONE) move(p.out, at, p.in, i, p.bytes);
    else if (p.type == IG_F32) ((float *)p.out)[at] = join(p.mode, ((float *)p.out)[at], ((const float *)p.in)[i]);
    else put_int(p.out, p.type, at, join_integer(p.mode, get_int(p.out, p.type, at), get_int(p.in, p.type, i)));
}

/* A thread per line of updates along the axis. */
GPU_KERNEL(128, 8, scatter_elements, ig_gpu_gather)
{
    const int line = blockIdx.x * 128 + threadIdx.x;
    if (line >= p.count) return;
    const int to = walk(p.dims, p.in_at, p.n, line), from = walk(p.dims, p.index_at, p.n, line);
    for (int k = 0; k < p.taken; k++) {
        const int i = from + k * p.inner;
        update(p, to + get_index(p.index, p.index_type, i, p.extent) * p.stride, i);
    }
}

/* A thread per element of a slice. */
GPU_KERNEL(128, 8, scatter_nd, ig_gpu_gather)
{
    const int i = blockIdx.x * 128 + threadIdx.x;
    if (i >= p.run) return;
    for (int t = 0; t < p.tuples; t++) update(p, slice_of(p, 0, t) * p.run + i, t * p.run + i);
}
