/*
 * Softmax over the channels of a pixel, a block per pixel: e^(x - max) / sum of them, or its logarithm
 * x - max - ln(sum). Threads take every 128th channel; their results are combined by halves, in a fixed order.
 */
#include "kernels_gpu/cuda/cuda.cuh"

GPU_KERNEL(128, 8, softmax_128, ig_gpu_softmax)
{
    SHARED(float, part, [128]);
    const int y = blockIdx.x / p.w, x = blockIdx.x - y * p.w, me = threadIdx.x;
    const float *in = p.in + (y * p.in_row + x * p.in_pixel);
    float *out = p.out + (y * p.out_row + x * p.out_pixel);
    float most = -INFINITY, sum = 0;
    for (int c = me; c < p.c; c += 128) most = fmaxf(most, in[c]);
    part[me] = most;
    __syncthreads();
    for (int half = 64; half; half >>= 1) {
        if (me < half) part[me] = fmaxf(part[me], part[me + half]);
        __syncthreads();
    }
    most = part[0];
    __syncthreads();
    for (int c = me; c < p.c; c += 128) sum += expf(in[c] - most);
    part[me] = sum;
    __syncthreads();
    for (int half = 64; half; half >>= 1) {
        if (me < half) part[me] += part[me + half];
        __syncthreads();
    }
    sum = part[0];
    if (p.log) {
        const float rest = logf(sum);
        for (int c = me; c < p.c; c += 128) out[c] = in[c] - most - rest;
    } else {
        const float scale = 1 / sum;
        for (int c = me; c < p.c; c += 128) out[c] = expf(in[c] - most) * scale;
    }
}
