/*
 * Data that moves: transposes, slices and repetitions are strided copies of elements as wide as what stays together allows,
 * up to four a thread, which are under way together; concatenations go over the output; padding; and constants that marks
 * make (one-hot, triangles).
 */
#include "kernels_gpu/cuda/element.cuh"

static __device__ __forceinline__ void check_width(const void *p, int bytes)
{
    (void)p, (void)bytes;
    IS_ALIGNED(p, bytes);
}

/* Where element i is read and written. */
static __device__ __forceinline__ int2 move_at(const ig_gpu_move &p, int i)
{
    if (p.n == 0) return make_int2(0, 0);
    const int last = p.n - 1, q = p.n == 1 ? 0 : divided(i, p.by, p.shift), x = i - q * p.dims[last];
    const int2 at = p.n == 1 ? make_int2(0, 0) : walk_two(p.dims, p.in_at, p.out_at, last, q);
    return make_int2(at.x + x * p.in_at[last], at.y + x * p.out_at[last]);
}

template <typename T> static __device__ __forceinline__ void move_some(const ig_gpu_move &p)
{
    const int first = blockIdx.x * 128 + threadIdx.x, step = gridDim.x * 128;
    T v[IG_GPU_SOME];
    int to[IG_GPU_SOME];
    UNROLL
    for (int k = 0; k < IG_GPU_SOME; k++) {
        if (first + k * step >= p.count) break;
        const int2 at = move_at(p, first + k * step);
        check_width((const T *)p.in + at.x, sizeof(T));
        v[k] = ((const T *)p.in)[at.x];
        to[k] = at.y;
    }
    UNROLL
    for (int k = 0; k < IG_GPU_SOME; k++) {
        if (first + k * step >= p.count) break;
        check_width((T *)p.out + to[k], sizeof(T));
        ((T *)p.out)[to[k]] = v[k];
    }
}

GPU_KERNEL(128, 8, move_any, ig_gpu_move)
{
    switch (p.bytes) {
    case 1: move_some<unsigned char>(p); break;
    case 2: move_some<uint16_t>(p); break;
    case 4: move_some<uint32_t>(p); break;
    case 8: move_some<float2>(p); break;
    default: move_some<float4>(p);
    }
}

/* Where in the parts elements first, first + step, ... of the output are. */
template <typename T, int N>
static __device__ __forceinline__ void find_parts(const ig_gpu_concat &p, int first, int step, const T *(&from)[N])
{
    int line[N], x[N];
    UNROLL
    for (int j = 0; j < N; j++) {
        const int i = first + j * step;
        line[j] = divided(i, p.by, p.shift);
        x[j] = i - line[j] * p.width;
        from[j] = (const T *)p.in[0] + (line[j] * p.length[0] + x[j]);
    }
#pragma unroll 1
    for (int k = 1; k < p.n; k++) {
        UNROLL
        for (int j = 0; j < N; j++)
            if (x[j] >= p.start[k]) from[j] = (const T *)p.in[k] + (line[j] * p.length[k] + x[j] - p.start[k]);
    }
}

/* A thread goes over the output, so that what memory takes at once is written once: up to 64 bytes of it, read together. */
template <typename T> static __device__ __forceinline__ void concat_some(const ig_gpu_concat &p)
{
    enum { EACH = sizeof(T) < 4 ? 16 : 64 / sizeof(T), N = 4 };
    const int first = blockIdx.x * 128 + threadIdx.x, step = gridDim.x * 128;
    T v[EACH];
    UNROLL
    for (int k = 0; k < EACH; k += N) {
        const T *from[N];
        find_parts(p, first + k * step, step, from);
        UNROLL
        for (int j = 0; j < N; j++) {
            if (first + (k + j) * step >= p.count) continue;
            check_width(from[j], sizeof(T));
            v[k + j] = *from[j];
        }
    }
    UNROLL
    for (int k = 0; k < EACH; k++)
        if (first + k * step < p.count) ((T *)p.out)[first + k * step] = v[k];
}

GPU_KERNEL(128, 8, concat_any, ig_gpu_concat)
{
    switch (p.bytes) {
    case 1: concat_some<unsigned char>(p); break;
    case 2: concat_some<uint16_t>(p); break;
    case 4: concat_some<uint32_t>(p); break;
    case 8: concat_some<float2>(p); break;
    default: concat_some<float4>(p);
    }
}

/* Coordinate i of m, which may be outside, as one inside; -1: the constant. */
static __device__ __forceinline__ int fold(int i, int m, int mode)
{
    if (i >= 0 && i < m) return i;
    if (mode == IG_PAD_CONSTANT) return -1;
    if (mode == IG_PAD_EDGE || m == 1) return i < 0 ? 0 : m - 1;
    const int period = mode == IG_PAD_WRAP ? m : 2 * (m - 1);
    i = (i % period + period) % period;
    return i < m ? i : period - i;
}

GPU_KERNEL(128, 8, pad_any, ig_gpu_pad)
{
    const int i = blockIdx.x * 128 + threadIdx.x;
    if (i >= p.count) return;
    int from = 0, rest = i;
    bool inside = true;
    for (int d = p.n - 1; d >= 0; d--) {
        const int q = rest / p.dims[d], x = fold(rest - q * p.dims[d] - p.before[d], p.inside[d], p.mode);
        inside = inside && x >= 0;
        from += x * p.in_at[d];
        rest = q;
    }
    if (inside) move(p.out, i, p.in, from, p.bytes);
    else put_bits(p.out, i, p.value, p.bytes);
}

GPU_KERNEL(128, 8, one_hot_any, ig_gpu_mark)
{
    const int i = blockIdx.x * 128 + threadIdx.x;
    if (i >= p.count) return;
    const int at = i / p.inner % p.n, from = i / p.inner / p.n * p.inner + i % p.inner;
    const long long index = get_int(p.in, p.in_type, from);
    move(p.out, i, p.values, index == at || index + p.n == at, p.bytes);
}

GPU_KERNEL(128, 8, triu_any, ig_gpu_mark)
{
    const uint32_t zero[2] = {0, 0};
    const int i = blockIdx.x * 128 + threadIdx.x;
    if (i >= p.count) return;
    const int diagonal = i % p.columns - i / p.columns % p.rows;
    if (p.upper ? diagonal >= p.k : diagonal <= p.k) move(p.out, i, p.in, i, p.bytes);
    else put_bits(p.out, i, zero, p.bytes);
}
