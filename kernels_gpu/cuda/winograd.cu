/*
 * Winograd's minimal filtering F(m,3) for 3x3 convolutions of stride 1, in three launches (A. Lavin, S. Gray, "Fast
 * Algorithms for Convolutional Neural Networks", 2015):
 *   winograd<m>_in    V[tile][point][ic] = B^T d B      of (m + 2)^2 pixels
 *   conv_*            M[tile][point][oc] = V U          conv.cu, a group for every point
 *   winograd<m>_out   m x m outputs = A^T M A, then bias, residual, activation
 * A thread transforms one channel of one tile in registers, neighbours in a warp neighbouring channels, so that memory is
 * accessed along pixels. Signs are those of U as kernels_cpu/pack/winograd.c makes it. The points of F(2,3) are 0, 1, -1 and infinity, of F(4,3) 0, +-3/4, +-3/2 and infinity, whose
 * error is a quarter of that of 0, +-1, +-2.
 */
#include "kernels_gpu/cuda/cuda.cuh"

/* d[0], d[step], ... to as many of B^T d. */
template <int M> static __device__ __forceinline__ void transform_in(float *d, int step)
{
    if (M == 2) {
        const float d0 = d[0], d1 = d[step], d2 = d[2 * step], d3 = d[3 * step];
        d[0] = d2 - d0;
        d[step] = d1 + d2;
        d[2 * step] = d2 - d1;
        d[3 * step] = d3 - d1;
    } else {
        const float a = 0.75f, b = 1.5f, aa = a * a, bb = b * b;
        const float d0 = d[0], d1 = d[step], d2 = d[2 * step], d3 = d[3 * step], d4 = d[4 * step], d5 = d[5 * step];
        const float even_a = fmaf(d2, -bb, d4), odd_a = fmaf(d1, -bb, d3), even_b = fmaf(d2, -aa, d4), odd_b = fmaf(d1, -aa, d3);
        d[0] = fmaf(d0, aa * bb, fmaf(d2, -(aa + bb), d4));
        d[step] = fmaf(odd_a, a, even_a);
        d[2 * step] = fmaf(odd_a, -a, even_a);
        d[3 * step] = fmaf(odd_b, b, even_b);
        d[4 * step] = fmaf(odd_b, -b, even_b);
        d[5 * step] = fmaf(d1, aa * bb, fmaf(d3, -(aa + bb), d5));
    }
}

/* The first M of A^T d. */
template <int M> static __device__ __forceinline__ void transform_out(float *d, int step)
{
    if (M == 2) {
        const float d0 = d[0], d1 = d[step], d2 = d[2 * step], d3 = d[3 * step];
        d[0] = d0 + (d1 + d2);
        d[step] = d3 + (d1 - d2);
    } else {
        const float a = 0.75f, b = 1.5f, aa = a * a, bb = b * b;
        const float s1 = d[step] + d[2 * step], d1 = d[step] - d[2 * step];
        const float s2 = d[3 * step] + d[4 * step], d2 = d[3 * step] - d[4 * step], last = d[5 * step];
        d[0] += s1 + s2;
        d[step] = fmaf(d2, b, a * d1);
        d[2 * step] = fmaf(s2, bb, aa * s1);
        d[3 * step] = fmaf(d2, bb * b, fmaf(d1, aa * a, last));
    }
}

template <int M> static __device__ __forceinline__ void winograd_in(const ig_gpu_winograd &p)
{
    enum { N = M + 2 };
    const int i = blockIdx.x * 128 + threadIdx.x, tile = i / p.ic4, c = i - tile * p.ic4;
    const int ty = tile / p.tiles_x, y = ty * M - p.top, x = (tile - ty * p.tiles_x) * M - p.left;
    if (ty >= p.tiles_y) return;
    const float *in = p.in + (y * p.in_row + x * p.in_pixel + c);
    float d[N * N];
#pragma unroll
    for (int r = 0; r < N; r++)
#pragma unroll
        for (int k = 0; k < N; k++) {
            const bool inside = c < p.ic && (unsigned)(y + r) < (unsigned)p.in_h && (unsigned)(x + k) < (unsigned)p.in_w;
            d[r * N + k] = inside ? in[r * p.in_row + k * p.in_pixel] : 0;
        }
#pragma unroll
    for (int k = 0; k < N; k++) transform_in<M>(d + k, N);
#pragma unroll
    for (int r = 0; r < N; r++) transform_in<M>(d + r * N, 1);
    float *v = p.v + ((long long)tile * (N * N) * p.ic4 + c);
#pragma unroll
    for (int point = 0; point < N * N; point++) v[point * p.ic4] = d[point];
}

template <int M> static __device__ __forceinline__ void winograd_out(const ig_gpu_winograd &p)
{
    enum { N = M + 2 };
    const int i = blockIdx.x * 128 + threadIdx.x, tile = i / p.oc, c = i - tile * p.oc;
    const int ty = tile / p.tiles_x, y = ty * M, x = (tile - ty * p.tiles_x) * M;
    if (ty >= p.tiles_y) return;
    const float *m = p.m + ((long long)tile * (N * N) * p.oc4 + c);
    float d[N * N];
#pragma unroll
    for (int point = 0; point < N * N; point++) d[point] = m[point * p.oc4];
#pragma unroll
    for (int k = 0; k < N; k++) transform_out<M>(d + k, N);
#pragma unroll
    for (int r = 0; r < M; r++) transform_out<M>(d + r * N, 1);
    const float bias = p.bias ? p.bias[c] : 0;
#pragma unroll
    for (int r = 0; r < M; r++)
#pragma unroll
        for (int k = 0; k < M; k++) {
            if (y + r >= p.out_h || x + k >= p.out_w) continue;
            float sum = d[r * N + k] + bias;
            if (p.residual) sum += p.residual[(y + r) * p.residual_row + (x + k) * p.residual_pixel + c];
            p.out[(y + r) * p.out_row + (x + k) * p.out_pixel + c] = activate(p.act, sum);
        }
}

GPU_KERNEL(128, 4, winograd2_in, ig_gpu_winograd)
{
    winograd_in<2>(p);
}

GPU_KERNEL(128, 4, winograd4_in, ig_gpu_winograd)
{
    winograd_in<4>(p);
}

GPU_KERNEL(128, 4, winograd2_out, ig_gpu_winograd)
{
    winograd_out<2>(p);
}

GPU_KERNEL(128, 4, winograd4_out, ig_gpu_winograd)
{
    winograd_out<4>(p);
}
