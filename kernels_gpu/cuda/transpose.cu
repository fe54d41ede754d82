/* Permutation of dims, of elements of four bytes. */
#include "kernels_gpu/cuda/cuda.cuh"

/* A thread per element, in the order of the output. */
GPU_KERNEL(128, 8, transpose_any, ig_gpu_transpose)
{
    const int i = blockIdx.x * 128 + threadIdx.x;
    if (i >= p.count) return;
    int rest = i, from = 0;
    UNROLL
    for (int d = 4; d >= 0; d--) {
        const int q = rest / p.dims[d];
        from += (rest - q * p.dims[d]) * p.strides[d];
        rest = q;
    }
    p.out[i] = p.in[from];
}

/*
 * The dim that is side by side in the output and the one that is so in the input: a tile of 64 x 32 of them goes through
 * shared memory, so that both sides are accessed along their rows. All tiles are in the grid's x, as an image's pixels may be
 * more than its y reaches.
 */
GPU_KERNEL(256, 4, transpose_64x32, ig_gpu_tiles)
{
    SHARED(uint32_t, tile, [64][33]);
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    int rest = blockIdx.x / p.across, from = 0, to = 0;
    const int x0 = (blockIdx.x - rest * p.across) * 64, tiles = rest / p.down, y0 = (rest - tiles * p.down) * 32;
    rest = tiles;
    UNROLL
    for (int d = 2; d >= 0; d--) {
        const int q = rest / p.dims[d];
        from += (rest - q * p.dims[d]) * p.in_at[d];
        to += (rest - q * p.dims[d]) * p.out_at[d];
        rest = q;
    }
    const uint32_t *in = p.in + from;
    uint32_t *out = p.out + to;
    uint32_t v[8]; /* all under way before the first is stored */
    UNROLL
    for (int k = 0; k < 8; k++) {
        const int x = x0 + warp + 8 * k;
        v[k] = x < p.width && y0 + lane < p.height ? in[x * p.in_step + y0 + lane] : 0;
    }
    UNROLL
    for (int k = 0; k < 8; k++) tile[warp + 8 * k][lane] = v[k];
    __syncthreads();
    UNROLL
    for (int i = warp; i < 32; i += 8)
        UNROLL
        for (int x = lane; x < 64; x += 32)
            if (y0 + i < p.height && x0 + x < p.width) out[(y0 + i) * p.out_step + x0 + x] = tile[x][i];
}
