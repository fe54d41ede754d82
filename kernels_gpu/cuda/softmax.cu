/*
 * Softmax over the channels of a pixel: e^(x - max) / sum of them, or its logarithm x - max - ln(sum). Of many pixels each
 * is a warp's, whose lanes take every 32nd channel and keep it in registers: memory is read once and written once. Else a
 * pixel is a block's, whose threads take every 128th channel. Results are combined by halves, in a fixed order. softmax_half*: one
 * side of halves, or both; of numbers that are in between floats.
 */
#include "kernels_gpu/cuda/cuda.cuh"

/* A pixel's channels, where they come from and where they go. */
template <bool HALVES> struct softmax_channels {
    int in, out; /* elements to the first */

    __device__ __forceinline__ softmax_channels(const ig_gpu_softmax &p, int y, int x)
        : in(y * p.in_row + x * p.in_pixel), out(y * p.out_row + x * p.out_pixel)
    {
    }
    __device__ __forceinline__ float get(const ig_gpu_softmax &p, int c) const
    {
        return load_either1(p.in, in + c, HALVES && p.in_halves);
    }
    __device__ __forceinline__ void put(const ig_gpu_softmax &p, int c, float v) const
    {
        store_either1(p.out, out + c, HALVES && p.out_halves, v);
    }
};

template <bool HALVES> static __device__ __forceinline__ void softmax_block(const ig_gpu_softmax &p)
{
    SHARED(float, part, [128]);
    const int y = blockIdx.x / p.w, me = threadIdx.x;
    const softmax_channels<HALVES> of(p, y, blockIdx.x - y * p.w);
    float most = -INFINITY, sum = 0;
    for (int c = me; c < p.c; c += 128) most = fmaxf(most, of.get(p, c));
    part[me] = most;
    __syncthreads();
    for (int half = 64; half; half >>= 1) {
        if (me < half) part[me] = fmaxf(part[me], part[me + half]);
        __syncthreads();
    }
    most = part[0];
    __syncthreads();
    for (int c = me; c < p.c; c += 128) sum += expf(of.get(p, c) - most);
    part[me] = sum;
    __syncthreads();
    for (int half = 64; half; half >>= 1) {
        if (me < half) part[me] += part[me + half];
        __syncthreads();
    }
    sum = part[0];
    if (p.log) {
        const float rest = logf(sum);
        for (int c = me; c < p.c; c += 128) of.put(p, c, of.get(p, c) - most - rest);
    } else {
        const float scale = 1 / sum;
        for (int c = me; c < p.c; c += 128) of.put(p, c, expf(of.get(p, c) - most) * scale);
    }
}

/* Of up to 32 N channels. */
template <int N, bool HALVES> static __device__ __forceinline__ void softmax_warp(const ig_gpu_softmax &p)
{
    const int pixel = blockIdx.x * 4 + threadIdx.x / 32, lane = threadIdx.x % 32, y = pixel / p.w;
    const softmax_channels<HALVES> of(p, y, pixel - y * p.w);
    if (pixel >= p.pixels) return;
    float v[N], most = -INFINITY, sum = 0;
    UNROLL
    for (int i = 0; i < N; i++) v[i] = lane + 32 * i < p.c ? of.get(p, lane + 32 * i) : -INFINITY;
    UNROLL
    for (int i = 0; i < N; i++) most = fmaxf(most, v[i]);
    UNROLL
    for (int half = 16; half; half >>= 1) most = fmaxf(most, __shfl_xor_sync(0xffffffff, most, half));
    UNROLL
    for (int i = 0; i < N; i++) {
        const float e = lane + 32 * i < p.c ? expf(v[i] - most) : 0;
        sum += e;
        v[i] = p.log ? v[i] : e;
    }
    UNROLL
    for (int half = 16; half; half >>= 1) sum += __shfl_xor_sync(0xffffffff, sum, half);
    const float scale = 1 / sum, rest = logf(sum);
    UNROLL
    for (int i = 0; i < N; i++)
        if (lane + 32 * i < p.c) of.put(p, lane + 32 * i, p.log ? v[i] - most - rest : v[i] * scale);
}

GPU_KERNEL(128, 8, softmax_128, ig_gpu_softmax)
{
    softmax_block<false>(p);
}

GPU_KERNEL(128, 8, softmax_warp4, ig_gpu_softmax)
{
    softmax_warp<4, false>(p);
}

GPU_KERNEL(128, 8, softmax_warp32, ig_gpu_softmax)
{
    softmax_warp<32, false>(p);
}

GPU_KERNEL(128, 8, softmax_half128, ig_gpu_softmax)
{
    softmax_block<true>(p);
}

GPU_KERNEL(128, 8, softmax_half_warp4, ig_gpu_softmax)
{
    softmax_warp<4, true>(p);
}

GPU_KERNEL(128, 5, softmax_half_warp32, ig_gpu_softmax)
{
    softmax_warp<32, true>(p);
}
