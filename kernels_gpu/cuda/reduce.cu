/*
 * Reductions over any dims: a block per output whose threads take every 128th element and then add up by halves, in a
 * fixed order; where outputs are many and neighbours in memory, a thread per output; of floats a warp's lanes take
 * neighbouring outputs, its block's warps every eighth element, and a block of few outputs a piece of them, which a second launch joins. Floats are added as floats, sums of
 * integers in 64 bits, and what of integers is not exact in doubles.
 */
#include "kernels_gpu/cuda/element.cuh"

enum { REDUCERS = 128 };

template <typename T> static __device__ __forceinline__ T reduce_item(int kind, T x)
{
    switch (kind) {
    case IG_REDUCE_L1: return x < 0 ? 0 - x : x;
    case IG_REDUCE_L2:
    case IG_REDUCE_SUM_SQUARE: return x * x;
    default: return x;
    }
}

template <typename T> static __device__ __forceinline__ T reduce_join(int kind, T acc, T x)
{
    switch (kind) {
    case IG_REDUCE_MAX: return x > acc || x != x ? x : acc;
    case IG_REDUCE_MIN: return x < acc || x != x ? x : acc;
    case IG_REDUCE_PROD: return acc * x;
    default: return acc + x;
    }
}

/* From every thread's, the block's; `part` is free again afterwards. */
template <typename T> static __device__ __forceinline__ T reduce_block(int kind, T mine, T *part)
{
    const int me = threadIdx.x;
    part[me] = mine;
    __syncthreads();
    for (int half = REDUCERS / 2; half; half >>= 1) {
        if (me < half) part[me] = reduce_join(kind, part[me], part[me + half]);
        __syncthreads();
    }
    const T all = part[0];
    __syncthreads();
    return all;
}

/* The same of floats: within warps by shuffles, then the four warps'. */
static __device__ __forceinline__ float reduce_block(int kind, float mine, float *part)
{
#pragma unroll
    for (int half = 16; half; half >>= 1) mine = reduce_join(kind, mine, __shfl_xor_sync(0xffffffff, mine, half));
    if (threadIdx.x % 32 == 0) part[threadIdx.x / 32] = mine;
    __syncthreads();
    const float all = reduce_join(kind, reduce_join(kind, part[0], part[1]), reduce_join(kind, part[2], part[3]));
    __syncthreads();
    return all;
}

/* Number i of what output `base` is made of. */
template <typename T> static __device__ __forceinline__ T reduced(const ig_gpu_reduce &p, int base, int i);

template <> __device__ __forceinline__ float reduced<float>(const ig_gpu_reduce &p, int base, int i)
{
    return ((const float *)p.in)[base + walk(p.gone_dims, p.gone_at, p.gone, i)];
}

template <> __device__ __forceinline__ double reduced<double>(const ig_gpu_reduce &p, int base, int i)
{
    return get_real(p.in, p.type, base + walk(p.gone_dims, p.gone_at, p.gone, i));
}

template <> __device__ __forceinline__ long long reduced<long long>(const ig_gpu_reduce &p, int base, int i)
{
    return get_int(p.in, p.type, base + walk(p.gone_dims, p.gone_at, p.gone, i));
}

/* What a thread makes of its elements, in their order; of floats eight are under way together. */
template <typename T> static __device__ __forceinline__ T reduce_mine(const ig_gpu_reduce &p, int kind, T acc, int base)
{
    const int step = p.wide ? REDUCERS : 1, many = sizeof(T) == sizeof(float) ? 8 : 1;
    for (int i = p.wide ? threadIdx.x : 0; i < p.count; i += many * step) {
        T v[many];
#pragma unroll
        for (int k = 0; k < many; k++) v[k] = i + k * step < p.count ? reduced<T>(p, base, i + k * step) : (T)0;
#pragma unroll
        for (int k = 0; k < many; k++)
            if (i + k * step < p.count) acc = reduce_join(kind, acc, reduce_item(kind, v[k]));
    }
    return acc;
}

template <typename T> static __device__ __forceinline__ T reduce_all(const ig_gpu_reduce &p, int kind, T first, int base, T *part)
{
    const T mine = reduce_mine(p, kind, first, base);
    return p.wide ? reduce_block(kind, mine, part) : mine;
}

/* ln sum e^x = max + ln sum e^(x - max) */
template <typename T> static __device__ __forceinline__ T log_sum_exp(const ig_gpu_reduce &p, int base, T *part)
{
    const T infinite = (T)INFINITY, most = reduce_all(p, IG_REDUCE_MAX, -infinite, base, part);
    const int step = p.wide ? REDUCERS : 1;
    T sum = 0;
    if (most == infinite || most == -infinite) return most;
    for (int i = p.wide ? threadIdx.x : 0; i < p.count; i += step) sum += exp(reduced<T>(p, base, i) - most);
    return most + log(p.wide ? reduce_block(IG_REDUCE_SUM, sum, part) : sum);
}

template <typename T> static __device__ __forceinline__ T reduce_first(int kind)
{
    return kind == IG_REDUCE_PROD ? (T)1 : kind == IG_REDUCE_MAX ? -(T)INFINITY : kind == IG_REDUCE_MIN ? (T)INFINITY : (T)0;
}

/* The result, from what `count` elements are joined to. */
template <typename T> static __device__ __forceinline__ T reduce_finish(int kind, T acc, int count)
{
    return kind == IG_REDUCE_MEAN ? acc / (T)count : kind == IG_REDUCE_L2 ? sqrt(acc) : kind == IG_REDUCE_LOG_SUM ? log(acc) : acc;
}

template <typename T> static __device__ __forceinline__ T reduce_value(const ig_gpu_reduce &p, int base, T *part)
{
    if (p.kind == IG_REDUCE_LOG_SUM_EXP) return log_sum_exp<T>(p, base, part);
    return reduce_finish(p.kind, reduce_all(p, p.kind, reduce_first<T>(p.kind), base, part), p.count);
}

/* Output of the thread, or of its block; -1: none. */
static __device__ __forceinline__ int reduce_output(const ig_gpu_reduce &p)
{
    const int i = p.wide ? blockIdx.x : blockIdx.x * REDUCERS + threadIdx.x;
    return i < p.outputs ? i : -1;
}

static __device__ __forceinline__ bool reduce_writes(const ig_gpu_reduce &p)
{
    return !p.wide || threadIdx.x == 0;
}

GPU_KERNEL(128, 8, reduce_f32, ig_gpu_reduce)
{
    SHARED(float, part, [REDUCERS]);
    const int i = reduce_output(p);
    if (i < 0) return;
    const float v = reduce_value<float>(p, walk(p.kept_dims, p.kept_at, p.kept, i), part);
    if (reduce_writes(p)) ((float *)p.out)[i] = v;
}

enum { COLUMN_ROWS = 8, COLUMN_TAKEN = 4 };

GPU_KERNEL(256, 4, reduce_columns, ig_gpu_reduce)
{
    SHARED(float, part, [COLUMN_ROWS][32]);
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32, output = blockIdx.x * 32 + lane;
    const int first = blockIdx.y * p.chunk, end = min(first + p.chunk, p.count);
    const int base = output < p.outputs ? walk(p.kept_dims, p.kept_at, p.kept, output) : 0;
    float acc = reduce_first<float>(p.kind);
    if (output < p.outputs)
        for (int i = first + warp; i < end; i += COLUMN_ROWS * COLUMN_TAKEN) {
            float v[COLUMN_TAKEN];
#pragma unroll
            for (int k = 0; k < COLUMN_TAKEN; k++)
                v[k] = i + k * COLUMN_ROWS < end ? reduced<float>(p, base, i + k * COLUMN_ROWS) : 0;
#pragma unroll
            for (int k = 0; k < COLUMN_TAKEN; k++)
                if (i + k * COLUMN_ROWS < end) acc = reduce_join(p.kind, acc, p.joined ? v[k] : reduce_item(p.kind, v[k]));
        }
    part[warp][lane] = acc;
    __syncthreads();
    if (warp || output >= p.outputs) return;
    for (int i = 1; i < COLUMN_ROWS; i++) acc = reduce_join(p.kind, acc, part[i][lane]);
    ((float *)p.out)[blockIdx.y * p.outputs + output] = p.by ? reduce_finish(p.kind, acc, p.by) : acc;
}

GPU_KERNEL(128, 4, reduce_real, ig_gpu_reduce)
{
    SHARED(double, part, [REDUCERS]);
    const int i = reduce_output(p);
    if (i < 0) return;
    const double v = reduce_value<double>(p, walk(p.kept_dims, p.kept_at, p.kept, i), part);
    if (reduce_writes(p)) put_real(p.out, p.type, i, v);
}

static __device__ __forceinline__ long long reduce_integers(int kind, long long a, long long b)
{
    if (kind == IG_REDUCE_MAX) return a > b ? a : b;
    if (kind == IG_REDUCE_MIN) return a < b ? a : b;
    if (kind == IG_REDUCE_PROD) return (long long)((unsigned long long)a * (unsigned long long)b);
    return (long long)((unsigned long long)a + (unsigned long long)b);
}

/* Modulo 2^64: what a sum or a product adds of one element. */
static __device__ __forceinline__ unsigned long long reduce_bits(int kind, long long x)
{
    const unsigned long long bits = (unsigned long long)x;
    if (kind == IG_REDUCE_L1 && x < 0) return 0 - bits;
    return kind == IG_REDUCE_SUM_SQUARE ? bits * bits : bits;
}

/* Exact: wraps around, the mean toward zero. */
GPU_KERNEL(128, 8, reduce_integer, ig_gpu_reduce)
{
    SHARED(long long, part, [REDUCERS]);
    const int i = reduce_output(p);
    if (i < 0) return;
    const int base = walk(p.kept_dims, p.kept_at, p.kept, i), step = p.wide ? REDUCERS : 1;
    const bool largest = p.kind == IG_REDUCE_MAX, orders = largest || p.kind == IG_REDUCE_MIN;
    const long long least = -0x7fffffffffffffffLL - 1;
    long long v = largest ? least : orders ? -(least + 1) : p.kind == IG_REDUCE_PROD;
    for (int k = p.wide ? threadIdx.x : 0; k < p.count; k += step)
        v = reduce_integers(p.kind, v, (long long)reduce_bits(p.kind, reduced<long long>(p, base, k)));
    if (p.wide) {
        const int me = threadIdx.x;
        part[me] = v;
        __syncthreads();
        for (int half = REDUCERS / 2; half; half >>= 1) {
            if (me < half) part[me] = reduce_integers(p.kind, part[me], part[me + half]);
            __syncthreads();
        }
        v = part[0];
    }
    if (reduce_writes(p)) put_int(p.out, p.type, i, p.kind == IG_REDUCE_MEAN ? v / p.count : v);
}
