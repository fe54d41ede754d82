/*
 * Fully connected layers of few rows and 1x1 convolutions of few pixels (GEMV): a warp per output and up to ROWS input rows, which read the weights once.
 * Lanes take every 32nd quad of the sum, then add up by halves: the order is fixed. Four quads of weights are on their
 * way at a time, as the rate of memory is all that counts. fc_half_*: of weights that are halves.
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
template <bool VECTOR, typename E> static __device__ __forceinline__ typename stored4<E>::type quad(const E *p, int k, int length)
{
    return k < length ? load_stored<VECTOR>(p + k, length - k) : stored4<E>::zero();
}

/* IN: of what is multiplied; W: of weights and bias. */
template <bool VECTOR, typename IN = float, typename W = float> static __device__ __forceinline__ void gemv(const ig_gpu_conv &p)
{
    const int lane = threadIdx.x % 32, n = blockIdx.x * 4 + threadIdx.x / 32, row0 = blockIdx.y * ROWS;
    if (n >= p.oc) return;
    const int rows = min((int)ROWS, p.out_h * p.out_w - row0);
    const W *w = (const W *)p.weights + (long long)n * p.ic;
    float sum[ROWS] = {0, 0, 0, 0};
    for (int k = lane * 4; k < p.ic; k += 128 * AHEAD) {
        typename stored4<W>::type v[AHEAD];
        UNROLL
        for (int i = 0; i < AHEAD; i++) v[i] = quad<VECTOR>(w, k + 128 * i, p.ic);
        UNROLL
        for (int r = 0; r < ROWS; r++) {
            if (r >= rows) continue;
            const int m = row0 + r, y = m / p.out_w;
            const IN *x = (const IN *)p.in + (y * p.sh * p.in_row + (m - y * p.out_w) * p.sw * p.in_pixel);
            UNROLL
            for (int i = 0; i < AHEAD; i++) sum[r] = dot4(widened(v[i]), widened(quad<VECTOR>(x, k + 128 * i, p.ic)), sum[r]);
        }
    }
    UNROLL
    for (int r = 0; r < ROWS; r++) {
        float total = sum_of_warp(sum[r]);
        if (r >= rows || lane) continue;
        const bool halves = sizeof(W) < sizeof(float);
        const int y = (row0 + r) / p.out_w, column = row0 + r - y * p.out_w;
        const int of_residual = y * p.residual_row + column * p.residual_pixel + n, of_out = y * p.out_row + column * p.out_pixel + n;
        if (p.bias) total += widened(((const W *)p.bias)[n]);
        if (p.residual) total += load_either1(p.residual, of_residual, halves && (p.halves & IG_GPU_RESIDUAL_HALVES));
        store_either1(p.out, of_out, halves && (p.halves & IG_GPU_OUT_HALVES), activate(p.act, total));
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

GPU_KERNEL(128, 8, fc_half_gemv, ig_gpu_conv)
{
    gemv<true, binary16, binary16>(p);
}

GPU_KERNEL(128, 8, fc_half_gemv_any, ig_gpu_conv)
{
    gemv<false, binary16, binary16>(p);
}

GPU_KERNEL(128, 8, fc_half_floats_gemv, ig_gpu_conv)
{
    gemv<true, float, binary16>(p);
}

GPU_KERNEL(128, 8, fc_half_floats_gemv_any, ig_gpu_conv)
{
    gemv<false, float, binary16>(p);
}
