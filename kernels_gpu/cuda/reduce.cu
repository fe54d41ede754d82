/*
 * Reductions over any dims. Of floats, what is reduced along memory has lanes of a warp or a block for an output, 16 bytes a load;
 * where outputs lie side by side a block is a tile of threads, some side by side, the others rows below. Where outputs are few
 * blocks have pieces of them, which a second launch joins. Anything else has a block per output, whose threads take every
 * 128th element and then add up by halves, in a fixed order, or, where outputs are many, a thread per output. Floats are added
 * as floats, sums of integers in 64 bits, and what of integers is not exact in doubles.
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
    UNROLL
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
        UNROLL
        for (int k = 0; k < many; k++) v[k] = i + k * step < p.count ? reduced<T>(p, base, i + k * step) : (T)0;
        UNROLL
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

/* --- floats, 4 or 16 bytes at a time --- */

enum { REDUCE_TILE = 256, UNDER_WAY = 4 /* loads of a thread before the first is used */ };

template <int W> static __device__ __forceinline__ vec<W> splat(float v)
{
    vec<W> all;
    UNROLL
    for (int j = 0; j < W; j++) all.x[j] = v;
    return all;
}

template <int W> static __device__ __forceinline__ void join_items(int kind, vec<W> &acc, const vec<W> &v)
{
    UNROLL
    for (int j = 0; j < W; j++) acc.x[j] = reduce_join(kind, acc.x[j], reduce_item(kind, v.x[j]));
}

template <int KIND> struct kind_of {
    enum { value = KIND };
};

/* f by the kind, known when it is compiled; what pieces gave is joined as it is. */
template <typename F> static __device__ __forceinline__ auto by_kind(const ig_gpu_reduce &p, F f) -> decltype(f(kind_of<0>()))
{
    const bool squares = p.kind == IG_REDUCE_L2 || p.kind == IG_REDUCE_SUM_SQUARE;
    if (p.kind == IG_REDUCE_MAX) return f(kind_of<IG_REDUCE_MAX>());
    if (p.kind == IG_REDUCE_MIN) return f(kind_of<IG_REDUCE_MIN>());
    if (p.kind == IG_REDUCE_PROD) return f(kind_of<IG_REDUCE_PROD>());
    if (squares && !p.joined) return f(kind_of<IG_REDUCE_SUM_SQUARE>());
    if (p.kind == IG_REDUCE_L1 && !p.joined) return f(kind_of<IG_REDUCE_L1>());
    return f(kind_of<IG_REDUCE_SUM>());
}

/* Elements [from, end) of W outputs, every rows-th. */
template <int KIND, int W>
static __device__ __forceinline__ vec<W> column_of(const ig_gpu_reduce &p, const float *in, int from, int end, int rows)
{
    const vec<W> nothing = splat<W>(reduce_first<float>(KIND));
    vec<W> acc = nothing;
#pragma unroll 1
    for (int i = from; i < end; i += rows * UNDER_WAY) {
        vec<W> v[UNDER_WAY];
        UNROLL
        for (int k = 0; k < UNDER_WAY; k++) {
            const int e = i + k * rows, q = (int)(__umulhi((unsigned)e, p.inverse) >> p.shift);
            v[k] = e < end ? load_vec<W>(in + (q * p.outer_at + (e - q * p.run) * p.run_at)) : nothing;
        }
        UNROLL
        for (int k = 0; k < UNDER_WAY; k++) join_items<W>(KIND, acc, v[k]);
    }
    return acc;
}

/* A block has `across` threads side by side, for W outputs each, and takes elements [blockIdx.y * chunk, + chunk). */
template <int W> static __device__ __forceinline__ void reduce_columns(const ig_gpu_reduce &p, vec<W> (&part)[REDUCE_TILE])
{
    const int me = threadIdx.x, rows = REDUCE_TILE / p.across, row = me / p.across;
    const int output = (blockIdx.x * p.across + me - row * p.across) * W;
    const int first = blockIdx.y * p.chunk, end = output < p.outputs ? min(first + p.chunk, p.count) : 0;
    const float *in = (const float *)p.in + walk(p.kept_dims, p.kept_at, p.kept, output < p.outputs ? output : 0);
    vec<W> acc = by_kind(p, [&](auto kind) { return column_of<decltype(kind)::value, W>(p, in, first + row, end, rows); });
    part[me] = acc;
    for (int half = rows / 2; half; half >>= 1) {
        __syncthreads();
        if (row >= half) continue;
        UNROLL
        for (int j = 0; j < W; j++) acc.x[j] = reduce_join(p.kind, acc.x[j], part[me + half * p.across].x[j]);
        part[me] = acc;
    }
    if (row || output >= p.outputs) return;
    UNROLL
    for (int j = 0; j < W; j++) acc.x[j] = p.by ? reduce_finish(p.kind, acc.x[j], p.by) : acc.x[j];
    store_vec<W>((float *)p.out + (blockIdx.y * p.outputs + output), acc);
}

GPU_KERNEL(256, 6, reduce_columns_4, ig_gpu_reduce)
{
    SHARED(vec<4>, part, [REDUCE_TILE]);
    reduce_columns<4>(p, part);
}

GPU_KERNEL(256, 6, reduce_columns_1, ig_gpu_reduce)
{
    SHARED(vec<1>, part, [REDUCE_TILE]);
    reduce_columns<1>(p, part);
}

template <int KIND> static __device__ __forceinline__ void join_few(vec<4> &acc, const float *in, int n, int me, int across)
{
#pragma unroll 1
    for (int i = me; i < n; i += across) acc.x[0] = reduce_join(KIND, acc.x[0], reduce_item(KIND, in[i]));
}

/* Four floats side by side at a time, or one by one where they are not aligned. */
template <bool VECTOR> static __device__ __forceinline__ vec<4> four_of(const float *p)
{
    if (VECTOR) return load_vec<4>(p);
    const vec<4> v = {{p[0], p[1], p[2], p[3]}};
    return v;
}

/* Of n floats one behind the other, the first number `at` of the tensor, thread `me` of `across`: whole quads of the tensor, and
 * what is before and behind. */
template <int KIND, bool VECTOR>
static __device__ __forceinline__ void join_run(vec<4> &acc, const float *in, int at, int n, int me, int across)
{
    const int front = min(-at & 3, n), quads = (n - front) / 4;
    const float *whole = in + (at + front);
#pragma unroll 1
    for (int i = me; i < quads; i += across * UNDER_WAY) {
        vec<4> v[UNDER_WAY];
        UNROLL
        for (int k = 0; k < UNDER_WAY; k++)
            v[k] = i + k * across < quads ? four_of<VECTOR>(whole + (i + k * across) * 4) : splat<4>(reduce_first<float>(KIND));
        UNROLL
        for (int k = 0; k < UNDER_WAY; k++) join_items<4>(KIND, acc, v[k]);
    }
    join_few<KIND>(acc, in + at, front, me, across);
    join_few<KIND>(acc, whole + quads * 4, n - front - quads * 4, me, across);
}

/* Of all runs of an output, `count` elements, or of its piece of the only one. */
template <int KIND, bool VECTOR> static __device__ __forceinline__ float row_of(const ig_gpu_reduce &p, int base, int count, int me)
{
    vec<4> acc = splat<4>(reduce_first<float>(KIND));
    const int piece = blockIdx.y * p.chunk, n = min(p.chunk, p.run - piece);
#pragma unroll 1
    for (int q = 0; q * p.run < count; q++) join_run<KIND, VECTOR>(acc, (const float *)p.in, base + q * p.outer_at + piece, n, me, p.across);
    return reduce_join(KIND, reduce_join(KIND, acc.x[0], acc.x[1]), reduce_join(KIND, acc.x[2], acc.x[3]));
}

/* `across` threads for an output, a power of two: lanes of a warp, or the block. */
template <bool VECTOR> static __device__ __forceinline__ void reduce_rows(const ig_gpu_reduce &p, float *part)
{
    const int mine = threadIdx.x / p.across, me = threadIdx.x - mine * p.across, i = blockIdx.x * (REDUCERS / p.across) + mine;
    const int base = walk(p.kept_dims, p.kept_at, p.kept, i < p.outputs ? i : 0), count = i < p.outputs ? p.count : 0;
    float v = by_kind(p, [&](auto kind) { return row_of<decltype(kind)::value, VECTOR>(p, base, count, me); });
    if (p.across == REDUCERS) v = reduce_block(p.kind, v, part);
    else
#pragma unroll 1
        for (int half = p.across / 2; half; half >>= 1) v = reduce_join(p.kind, v, __shfl_xor_sync(0xffffffff, v, half));
    if (me || i >= p.outputs) return;
    ((float *)p.out)[blockIdx.y * p.outputs + i] = p.by ? reduce_finish(p.kind, v, p.by) : v;
}

GPU_KERNEL(128, 8, reduce_rows_4, ig_gpu_reduce)
{
    SHARED(float, part, [4]);
    reduce_rows<true>(p, part);
}

GPU_KERNEL(128, 8, reduce_rows_1, ig_gpu_reduce)
{
    SHARED(float, part, [4]);
    reduce_rows<false>(p, part);
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
