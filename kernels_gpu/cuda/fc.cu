/*
 * Fully connected layers of few rows (GEMV): a warp per output and up to ROWS input rows, which read the weights once.
 * Lanes take every 32nd quad of the sum, then add up by halves: the order is fixed. Four quads of weights are on their
 * way at a time, as the rate of memory is all that counts.
 */
#include "kernels_gpu/cuda/cuda.cuh"

enum { ROWS = 4, AHEAD = 4 };

static __device__ __forceinline__ float sum_of_warp(float v)
{
    UNROLL
    for (int mask = 16; mask; mask >>= 1) v += __shfl_xor_sync(0xffffffff, v, mask);
    return v;
}

static __device__ __forceinline__ float dot4(float4 a, float4 b, float sum)
{
    sum = fmaf(a.x, b.x, sum);
    sum = fmaf(a.y, b.y, sum);
    sum = fmaf(a.z, b.z, sum);
    return fmaf(a.w, b.w, sum);
}

/* Quads [k, k + 128) of the sum, of which the lane takes one. */
template <bool VECTOR> static __device__ __forceinline__ float4 quad(const float *p, int k, int length)
{
    return k < length ? load_upto4<VECTOR>(p + k, length - k) : make_float4(0, 0, 0, 0);
}

template <bool VECTOR> static __device__ __forceinline__ void gemv(const ig_gpu_conv &p)
{
    const int lane = threadIdx.x % 32, n = blockIdx.x * 4 + threadIdx.x / 32, row0 = blockIdx.y * ROWS;
    if (n >= p.oc) return;
    const int rows = min((int)ROWS, p.out_h - row0);
    const float *w = p.weights + (long long)n * p.ic;
    float sum[ROWS] = {0, 0, 0, 0};
    for (int k = lane * 4; k < p.ic; k += 128 * AHEAD) {
        float4 v[AHEAD];
        UNROLL
        for (int i = 0; i < AHEAD; i++) v[i] = quad<VECTOR>(w, k + 128 * i, p.ic);
        UNROLL
        for (int r = 0; r < ROWS; r++) {
            if (r >= rows) continue;
            const float *x = p.in + (row0 + r) * p.in_row;
            UNROLL
            for (int i = 0; i < AHEAD; i++) sum[r] = dot4(v[i], quad<VECTOR>(x, k + 128 * i, p.ic), sum[r]);
        }
    }
    UNROLL
    for (int r = 0; r < ROWS; r++) {
        float total = sum_of_warp(sum[r]);
        if (r >= rows || lane) continue;
        if (p.bias) total += p.bias[n];
        if (p.residual) total += p.residual[(row0 + r) * p.residual_row + n];
        p.out[(row0 + r) * p.out_row + n] = activate(p.act, total);
    }
}

GPU_KERNEL(128, 8, fc_gemv, ig_gpu_conv)
{
    gemv<true>(p);
}

GPU_KERNEL(128, 8, fc_gemv_any, ig_gpu_conv)
{
    gemv<false>(p);
}
