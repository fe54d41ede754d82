/*
 * Convolution as a matrix product that is never written down (implicit GEMM):
 *   out[pixel][oc] = act(bias[oc] + sum over tap, ic of in[pixel's tap][ic] weights[tap][ic][oc] + residual[pixel][oc])
 *
 * A block computes BM pixels x BN channels, a thread TM x TN of them in registers, in quads that lie a grid of threads
 * apart so that shared memory is read 16 bytes at a time without conflicts. The channels of every tap are gone through BK at a
 * time: while a step is multiplied from one half of shared memory, the next comes from memory into registers and then
 * goes to the other half, so that a step has one barrier. A thread brings the same quad of every step for a few pixels
 * and keeps pointers to them, which are found anew only where a tap begins; a tap beyond the edge points to zeros. Every output is one chain of fused multiply-adds in the
 * order of K, whatever the tile: variants give the same bits.
 *
 * A small output has too few tiles for the chip: K is then cut into pieces (`splits`), each block adds up one, and
 * conv_reduce adds the pieces in their order.
 *
 * A volume's rows lie one depth behind the other, as do the rows of its taps: only where a tap of a pixel is differs.
 *
 * deconv_*: the phases of a transposed convolution, blocks of all of them by one launch.
 */
#include "kernels_gpu/cuda/conv.cuh"

GPU_KERNEL(256, 2, conv_128x128, ig_gpu_conv)
{
    tile<128, 128, 8, 8, 8, true, quads<128, 8, 256> >(p, flat_image(), blockIdx.z);
}

GPU_KERNEL(128, 3, conv_128x64, ig_gpu_conv)
{
    tile<128, 64, 16, 8, 8, LONG_CALLED, quads<128, 16, 128> >(p, flat_image(), blockIdx.z);
}

GPU_KERNEL(64, 6, conv_64x64, ig_gpu_conv)
{
    tile<64, 64, 16, 8, 8, LONG_CALLED, quads<64, 16, 64> >(p, flat_image(), blockIdx.z);
}

GPU_KERNEL(128, 3, conv_64x64s, ig_gpu_conv)
{
    tile<64, 64, 16, 8, 4, LONG_CALLED, quads<64, 16, 128> >(p, flat_image(), blockIdx.z);
}

GPU_KERNEL(64, 8, conv_32x32, ig_gpu_conv)
{
    tile<32, 32, 16, 4, 4, LONG_CALLED, quads<32, 16, 64> >(p, flat_image(), blockIdx.z);
}

GPU_KERNEL(128, 3, conv_any64x64, ig_gpu_conv)
{
    tile<64, 64, 16, 8, 4, LONG_CALLED, singles<64, 16, 128> >(p, flat_image(), blockIdx.z);
}

GPU_KERNEL(64, 8, conv_any32x32, ig_gpu_conv)
{
    tile<32, 32, 16, 4, 4, LONG_CALLED, singles<32, 16, 64> >(p, flat_image(), blockIdx.z);
}

GPU_KERNEL(128, 3, conv_volume64x64, ig_gpu_volume)
{
    tile<64, 64, 16, 8, 4, LONG_CALLED, quads<64, 16, 128, ig_gpu_depth> >(p.flat, p.depth, blockIdx.z);
}

GPU_KERNEL(64, 8, conv_volume32x32, ig_gpu_volume)
{
    tile<32, 32, 16, 4, 4, LONG_CALLED, quads<32, 16, 64, ig_gpu_depth> >(p.flat, p.depth, blockIdx.z);
}

GPU_KERNEL(128, 3, conv_volume_any64x64, ig_gpu_volume)
{
    tile<64, 64, 16, 8, 4, LONG_CALLED, singles<64, 16, 128, ig_gpu_depth> >(p.flat, p.depth, blockIdx.z);
}

GPU_KERNEL(64, 8, conv_volume_any32x32, ig_gpu_volume)
{
    tile<32, 32, 16, 4, 4, LONG_CALLED, singles<32, 16, 64, ig_gpu_depth> >(p.flat, p.depth, blockIdx.z);
}

GPU_KERNEL(128, 3, deconv_64x64, ig_gpu_deconv)
{
    phase_tile<64, 8, 4, LONG_CALLED, quads<64, 16, 128> >(p);
}

GPU_KERNEL(64, 8, deconv_32x32, ig_gpu_deconv)
{
    phase_tile<32, 4, 4, LONG_CALLED, quads<32, 16, 64> >(p);
}

GPU_KERNEL(64, 8, deconv_any32x32, ig_gpu_deconv)
{
    phase_tile<32, 4, 4, LONG_CALLED, singles<32, 16, 64> >(p);
}

GPU_KERNEL(128, 8, conv_reduce, ig_gpu_conv)
{
    reduce<float>(p);
}

/*
 * 16 pixels x 128 channels of a convolution of one tap, for few pixels, where weights are all there is to wait for: each is used by
 * one thread of a block alone, which reads it from memory into registers while it multiplies with those before. A thread has 4
 * channels of all pixels; what these are multiplied with all lanes of a warp read at once from shared memory. The warps of a block
 * have a part of the channels of the block's piece of the sum each, and their sums are added up in the order of warps.
 */
template <bool VECTOR> struct few {
    enum { ROWS = 16, WARPS = 4, STEP = 8 /* k */, AHEAD = 4 /* k of weights that a thread has registers for */ };
    enum { HALF = 32 /* k of pixels in shared memory, of two halves that are used by turns */ };
    enum { LINE = ROWS + 4 /* pixels of a k: what a warp stores goes to 32 banks */, MINE = 2 * HALF * LINE };
    enum { AT_ONCE = 8 /* rows of all warps' sums that it has room for */ };

    /* Four k of a pixel, of which there are n. */
    static __device__ __forceinline__ float4 quad_of(const float *from, int n)
    {
        return n > 0 ? load_upto4<VECTOR>(from, n) : make_float4(0, 0, 0, 0);
    }
    static __device__ __forceinline__ void put(float *to, float4 v)
    {
        to[0] = v.x;
        to[LINE] = v.y;
        to[2 * LINE] = v.z;
        to[3 * LINE] = v.w;
    }
    static __device__ __forceinline__ void multiply(float4 *sum, const float *x, float4 w)
    {
        UNROLL
        for (int q = 0; q < ROWS; q += 4) {
            float4 v = load4(x + q);
            UNROLL
            for (int j = 0; j < 16; j++) at(sum[q + j / 4], j % 4) = fmaf(at(v, j / 4), at(w, j % 4), at(sum[q + j / 4], j % 4));
        }
    }
    /* What a thread goes through its part of the sum with. */
    struct walk {
        int pixel, weights; /* where it brings from next, */
        int left;           /* and of how many k: pixels */
        const float *mine;  /* its warp's pixels in shared memory */
        float *to;          /* where it puts what it brings */
    };
    /* A row of weights, the i-th of those to come, of which n are there: where quads of pixels are, what is not there is not used. */
    static __device__ __forceinline__ void bring(const ig_gpu_conv &p, float4 &w, walk &at, int i, int n)
    {
        if (VECTOR ? i / 4 * 4 < n : i < n) w = load4(p.weights + at.weights);
        else if (!VECTOR) w = make_float4(0, 0, 0, 0);
        at.weights += p.oc4;
    }
    /* STEP k from k on, of which n are left; WHOLE: all of these and as many more. Weights take the registers of those that are done. */
    template <bool WHOLE> static __device__ __forceinline__ void step(const ig_gpu_conv &p, walk &at, float4 *sum, float4 *w, int k, int n)
    {
        const float *x = at.mine + k % (2 * HALF) * LINE;
        const float4 quad = quad_of(p.in + at.pixel, at.left);
        UNROLL
        for (int i = 0; i < STEP; i++) {
            if (WHOLE || i / 4 * 4 < n) multiply(sum, x + i * LINE, w[i % AHEAD]);
            bring(p, w[i % AHEAD], at, i, WHOLE ? STEP : n - AHEAD);
        }
        put(at.to + (k + HALF) % (2 * HALF) * LINE, quad);
        at.pixel += STEP;
        at.left -= STEP;
        if (k % HALF == HALF - STEP) __syncthreads();
    }
    /* Adds the sums of all warps and writes those of the block. */
    static __device__ __forceinline__ void put_all(const ig_gpu_conv &p, float *room, const float4 *sum, int group, int split)
    {
        const int warp = threadIdx.x / 32, lane = threadIdx.x % 32, count = p.out_h * p.out_w;
        const int channel = blockIdx.y * 128 + lane * 4, n = p.oc - channel;
        UNROLL
        for (int part = 0; part < ROWS; part += AT_ONCE) {
            __syncthreads();
            UNROLL
            for (int i = 0; i < AT_ONCE; i++) store4(&room[(warp * AT_ONCE + i) * 128 + lane * 4], sum[part + i]);
            __syncthreads();
#pragma unroll 1
            for (int i = warp; i < AT_ONCE; i += WARPS) {
                const int m = blockIdx.x * ROWS + part + i;
                if (m >= count || n <= 0) continue;
                float4 total = split == 0 ? bias_of(p, group * p.oc + channel, n) : make_float4(0, 0, 0, 0);
                UNROLL
                for (int other = 0; other < WARPS; other++) {
                    const float4 v = load4(&room[(other * AT_ONCE + i) * 128 + lane * 4]);
                    total = make_float4(total.x + v.x, total.y + v.y, total.z + v.z, total.w + v.w);
                }
                if (p.splits > 1) store4(p.partial + (((long long)blockIdx.z * count + m) * p.oc4 + channel), total);
                else finish<false>(p, m, group * p.oc + channel, total, n);
            }
        }
    }
    static __device__ __forceinline__ void compute(const ig_gpu_conv &p)
    {
        SHARED(float, room, [WARPS * MINE]);
        const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
        const int m = blockIdx.x * ROWS + lane % ROWS, y = m / p.out_w;
        const int group = blockIdx.z / p.splits, split = blockIdx.z - group * p.splits;
        const int channel = blockIdx.y * 128 + lane * 4, n = p.oc - channel;
        const int from = split * p.chunk * UNIT, end = min(from + p.chunk * UNIT, p.ic);
        int each = (end - from + WARPS * STEP - 1) / (WARPS * STEP) * STEP;
        const int first = min(from + warp * each, end);
        int whole = end - from == WARPS * each ? each - STEP : 0, k = 0, count = min(each, end - first);
        const int k_of = lane / ROWS * 4; /* of every 8 k a thread brings these four of a pixel */
        walk at;
        at.mine = room + warp * MINE;
        at.to = room + warp * MINE + k_of * LINE + lane % ROWS;
        at.pixel = y * p.sh * p.in_row + (m - y * p.out_w) * p.sw * p.in_pixel + group * p.ic + first + k_of;
        at.left = y < p.out_h ? count - k_of : 0;
        at.weights = group * p.weight_group + first * p.oc4 + (n > 0 ? channel : 0);
        float4 sum[ROWS], w[AHEAD];
        UNROLL
        for (int i = 0; i < ROWS; i++) sum[i] = make_float4(0, 0, 0, 0);
        UNROLL
        for (int i = 0; i < AHEAD; i++) bring(p, w[i], at, i, count);
        UNROLL
        for (int k = 0; k < HALF; k += STEP) put(at.to + k * LINE, quad_of(p.in + (at.pixel + k), at.left - k));
        __syncthreads();
        at.pixel += HALF;
        at.left -= HALF;
#pragma unroll 1
        for (; k < whole; k += STEP) step<true>(p, at, sum, w, k, 0);
        if (whole) count = each = STEP; /* one step is left */
#pragma unroll 1
        for (; each > 0; each -= STEP, count -= STEP, k += STEP) step<false>(p, at, sum, w, k, count);
        int splits = p.splits; /* where it writes is found anew: the loop has no registers for it */
        KEPT(splits);
        put_all(p, room, sum, blockIdx.z / splits, blockIdx.z % splits);
    }
};

#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 700
enum { BLOCKS_OF_FEW = 3 }; /* as many as shared memory holds, with more registers each */
#else
enum { BLOCKS_OF_FEW = 4 };
#endif

GPU_KERNEL(128, BLOCKS_OF_FEW, conv_16x128, ig_gpu_conv)
{
    few<true>::compute(p);
}

GPU_KERNEL(128, 3, conv_any16x128, ig_gpu_conv)
{
    few<false>::compute(p);
}
