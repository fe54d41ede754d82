/* Permutation of dims, of elements of four bytes. */
#include "kernels_gpu/cuda/cuda.cuh"

/* A thread per element, in the order of the output. */
GPU_KERNEL(128, 8, transpose_any, ig_gpu_transpose)
{
    const int i = blockIdx.x * 128 + threadIdx.x;
    if (i >= p.count) return;
    int rest = i, from = 0;
#pragma unroll
    for (int d = 4; d >= 0; d--) {
        const int q = rest / p.dims[d];
        from += (rest - q * p.dims[d]) * p.strides[d];
        rest = q;
    }
    p.out[i] = p.in[from];
}

/*
 * Two dims changed for each other, dims[3] x dims[4] of the output for every dims[2]: a tile of 32 x 32 goes through
 * shared memory, so that both sides are accessed along their rows. All tiles of a plane are in the grid's x, as an image's
 * pixels may be more than its y reaches.
 */
GPU_KERNEL(256, 4, transpose_32x32, ig_gpu_transpose)
{
    SHARED(uint32_t, tile, [32][33]);
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    const int height = p.dims[3], width = p.dims[4], across = (width + 31) / 32;
    const int x0 = blockIdx.x % across * 32, y0 = blockIdx.x / across * 32;
    const uint32_t *in = p.in + (long long)blockIdx.z * height * width;
    uint32_t *out = p.out + (long long)blockIdx.z * height * width;
#pragma unroll
    for (int i = warp; i < 32; i += 8)
        if (x0 + i < width && y0 + lane < height) tile[i][lane] = in[(x0 + i) * height + y0 + lane];
    __syncthreads();
#pragma unroll
    for (int i = warp; i < 32; i += 8)
        if (y0 + i < height && x0 + lane < width) out[(y0 + i) * width + x0 + lane] = tile[lane][i];
}
