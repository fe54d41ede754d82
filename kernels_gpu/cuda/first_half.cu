/*
 * Convolutions of one to four channels, as a network's first is, by tensor cores: weights are halves, windows of 3x3 to 7x7, no dilation.
 *
 * A block computes 128 pixels x BN channels: eight tiles of 16 pixels of a row, two to a warp. As in first.cu the patch of the image and the
 * weights lie in shared memory whole. A pixel of the patch has four channels, those that are missing zero, so that the taps of a row of
 * the window lie side by side, and 16 pixels' windows are a fragment's rows as they lie there, overlapping: nothing is copied out.
 *
 *     row of the patch     0 0 0 - 1 1 1 - 2 2 2 - 3 3 3 - 4 4 4 - 5 5 5 - ...     column of the pixel that a half is of; - is zero
 *     window of pixel 0    |----- four taps: a step -----|
 *     window of pixel 1                    |----- four taps: a step -----|   stride 2: eight halves on
 *
 * Rows of a fragment must lie a multiple of eight halves apart, which is two pixels. Where the stride is odd a tile has every
 * second pixel, and the others read a second copy of the patch that begins a stride later; a block is then 4 rows of 32 pixels, else 8 of 16.
 * Weights of taps beyond the window are zero: a row has four taps or eight.
 *
 * Pixels that are floats are not rounded: x is the sum of two halves but for 2^-22 of it, and both are multiplied by the same
 * fragments of weights. A patch that halves do not hold so, with a pixel beyond 65504 or none of 2^-7, is brought once more, multiplied by a
 * power of two. An infinite pixel gives NaN, also to a window that ends beside it. Pixels that are halves are multiplied once, as they are.
 *
 * Tensor cores cut sums off (conv_mma.cu), here of up to 448 products, half of which are 2^-11 of the others: of one sign they are off by
 * 3.3e-6 of their sum (tests/gpu/mma.c). Chips without tensor cores (before sm_70) multiply and add in the end, an output after the other.
 */
#include "kernels_gpu/cuda/conv.cuh"
#include "kernels_gpu/cuda/outputs.cuh"

template <typename E, int BN, int ROOM> struct first_mma {
    enum { THREADS = 128, WARPS = THREADS / 32, TILE = 16, OF_WARP = 2 /* tiles */, TILES = WARPS * OF_WARP, CHANNELS = 4 };
    enum { PIECES = sizeof(E) / sizeof(binary16) /* that a pixel's value is the sum of */, ACROSS = BN / TILE, PIECE = 8 /* halves: 16 bytes */ };
    enum { INFINITE = 0x7f800000 /* its bits */ };
    enum { LINE_B = BN + PIECE /* halves */, LINE_SUM = BN + 4 /* floats */, PER_ROW = BN / PIECE, QUADS = BN / 4 };
    static_assert(WARPS * TILE * LINE_SUM <= ROOM, "sums have no room");

    const ig_gpu_first_mma &f;
    binary16 *const patch, *const weights;
    int most; /* bits of the largest of this thread's pixels that is finite */
    float scale;

    __device__ __forceinline__ first_mma(const ig_gpu_first_mma &of, float *room)
        : f(of), patch((binary16 *)room + of.steps * of.conv.kh * TILE * LINE_B), weights((binary16 *)room), most(0), scale(1)
    {
    }
    /* Which of the rows that the threads bring at once: eight lanes go to 32 banks. */
    static __device__ __forceinline__ int row_of_weights()
    {
        return PER_ROW == 4 ? row_of_piece() : threadIdx.x / PER_ROW;
    }
    __device__ __forceinline__ void bring_weights() const
    {
        const int n = threadIdx.x % PER_ROW * PIECE, channel = blockIdx.z * BN + n, rows = f.steps * f.conv.kh * TILE;
        /* beyond the last channel another's, whose sums nobody reads */
        const binary16 *from = (const binary16 *)f.conv.weights + (channel < f.conv.oc4 ? channel : 0);
#pragma unroll 4
        for (int k = row_of_weights(); k < rows; k += THREADS / PER_ROW)
            COPY4((float *)(weights + (k * LINE_B + n)), (const float *)(from + k * f.conv.oc4), true);
    }
    /* The i-th pixel of the patch; behind the first copy there is room for those before the first of the second. */
    __device__ __forceinline__ void put_pixel(int i, int piece, const halves4 &h) const
    {
        binary16 *to = patch + piece * f.copies * f.plane;
        store_stored<true>(to + i * CHANNELS, h, 4);
        if (f.copies > 1) store_stored<true>(to + f.plane + (i - f.conv.sw) * CHANNELS, h, 4);
    }
    __device__ __forceinline__ void put_pieces(int i, const binary16 (&v)[CHANNELS])
    {
        const halves4 h = {{v[0], v[1], v[2], v[3]}};
        put_pixel(i, 0, h);
    }
    __device__ __forceinline__ void put_pieces(int i, const float (&v)[CHANNELS])
    {
        halves4 upper, lower;
        UNROLL
        for (int c = 0; c < CHANNELS; c++) {
            const float x = v[c] * scale;
            const int size = (int)(__float_as_uint(v[c]) & 0x7fffffff);
            most = max(most, size < INFINITE ? size : 0);
            upper.x[c] = narrowed(x);
            lower.x[c] = narrowed(x - widened(upper.x[c]));
        }
        put_pixel(i, 0, upper);
        put_pixel(i, 1, lower);
    }
    __device__ __forceinline__ void bring_patch()
    {
        enum { AT_ONCE = 4 };
        const ig_gpu_conv &p = f.conv;
        const int count = f.rows * f.columns, used = (TILE * f.copies - 1) * p.sw + p.kw; /* columns of windows */
        const int y0 = (int)blockIdx.y * (TILES / f.copies) * p.sh - p.top, x0 = (int)blockIdx.x * TILE * f.copies * p.sw - p.left;
#pragma unroll 1
        for (int first = threadIdx.x; first < count; first += AT_ONCE * THREADS) {
            E v[AT_ONCE][CHANNELS] = {};
            UNROLL
            for (int i = 0; i < AT_ONCE; i++) {
                const int at = first + i * THREADS, row = at / f.columns, column = at - row * f.columns, y = y0 + row, x = x0 + column;
                const bool there = at < count && column < used && (unsigned)y < (unsigned)p.in_h && (unsigned)x < (unsigned)p.in_w;
                const E *from = (const E *)p.in + (there ? y * p.in_row + x * p.in_pixel : 0);
                UNROLL
                for (int c = 0; c < CHANNELS; c++)
                    if (there && c < p.ic) v[i][c] = from[c];
            }
            UNROLL
            for (int i = 0; i < AT_ONCE; i++)
                if (first + i * THREADS < count) put_pieces(first + i * THREADS, v[i]);
        }
    }
    /* The largest of the block's; behind it all is there that threads have put. */
    __device__ __forceinline__ int most_of_all() const
    {
        SHARED(int, most_of, [WARPS]);
        int v = most;
        UNROLL
        for (int apart = 16; apart > 0; apart /= 2) v = max(v, __shfl_xor_sync(~0u, v, apart));
        if (threadIdx.x % 32 == 0) most_of[threadIdx.x / 32] = v;
        __syncthreads();
        UNROLL
        for (int i = 0; i < WARPS; i++) v = max(v, most_of[i]);
        return v;
    }
    __device__ __forceinline__ void bring_all()
    {
        enum { LEAST = 120 << 23 /* bits of 2^-7 */, MOST = 0x477fe000 /* 65504 */, BIAS = 127, TO = BIAS + 10 /* 2^10 */, LARGEST = 250 };
        bring_weights();
        COPY_GROUP();
        bring_patch();
        COPY_WAIT(0);
        if (PIECES == 1) {
            __syncthreads();
            return;
        }
        const int all = most_of_all();
        if (all == 0 || (LEAST <= all && all <= MOST)) return;
        scale = __uint_as_float((unsigned)min(TO + BIAS - (all >> 23), (int)LARGEST) << 23);
        bring_patch();
        __syncthreads();
    }
    /* The window's rows, from the i-th tile's first pixel on. */
    __device__ __forceinline__ const binary16 *tile(int i) const
    {
        const int row = i / f.copies, copy = i - row * f.copies;
        return patch + (copy * f.plane + row * f.conv.sh * f.columns * CHANNELS);
    }
    __device__ __forceinline__ void multiply(float (&sum)[OF_WARP][ACROSS][8]) const
    {
        const int apart = f.copies * f.conv.sw * CHANNELS, piece = f.copies * f.plane, line = f.columns * CHANNELS;
        const binary16 *b = weights, *a[OF_WARP];
        UNROLL
        for (int i = 0; i < OF_WARP; i++) a[i] = tile(threadIdx.x / 32 * OF_WARP + i);
#pragma unroll 1
        for (int ky = 0; ky < f.conv.kh; ky++) {
#pragma unroll 1
            for (int k = 0; k < f.steps * TILE; k += TILE, b += TILE * LINE_B) {
                unsigned w[ACROSS][8];
                UNROLL
                for (int n = 0; n < ACROSS; n++) wmma_load_b(w[n], b + n * TILE, LINE_B);
                UNROLL
                for (int i = 0; i < OF_WARP * PIECES; i++) {
                    unsigned x[8];
                    wmma_load_a(x, a[i % OF_WARP] + (i / OF_WARP * piece + k), apart);
                    UNROLL
                    for (int n = 0; n < ACROSS; n++) wmma(sum[i % OF_WARP][n], x, w[n]);
                }
            }
            UNROLL
            for (int i = 0; i < OF_WARP; i++) a[i] += line;
        }
    }
    /* Where there are no tensor cores: four channels of the m-th pixel of a tile. */
    __device__ __forceinline__ float4 sum_of_taps(int at, int m, int column) const
    {
        const binary16 *row = tile(at) + m * f.copies * f.conv.sw * CHANNELS, *w = weights + column;
        float4 sum = make_float4(0, 0, 0, 0);
        for (int ky = 0; ky < f.conv.kh; ky++, row += f.columns * CHANNELS, w += f.steps * TILE * LINE_B)
            for (int k = 0; k < f.conv.kw * CHANNELS; k++) {
                const float4 weight = load4(w + k * LINE_B);
                const float x = widened(row[k]) + (PIECES > 1 ? widened(row[f.copies * f.plane + k]) : 0);
                sum = make_float4(fmaf(x, weight.x, sum.x), fmaf(x, weight.y, sum.y), fmaf(x, weight.z, sum.z), fmaf(x, weight.w, sum.w));
            }
        return sum;
    }
    /* Four channels of a pixel a thread, of one tile of each warp, whose sums are in `room`. */
    __device__ __forceinline__ void finish(const float *room, int of_warp) const
    {
        enum { APART = THREADS / QUADS };
        const ig_gpu_conv &p = f.conv;
        const int column = threadIdx.x % QUADS * 4, channel = blockIdx.z * BN + column, left = p.oc - channel;
        const float back = __uint_as_float(0x7f000000 - __float_as_uint(scale)); /* 1 / scale, a power of two */
        if (left <= 0) return;
        const float4 bias = bias_of<binary16>(p, channel, left);
#pragma unroll 4
        for (int own = threadIdx.x / QUADS; own < WARPS * TILE; own += APART) {
            const int i = own / TILE * OF_WARP + of_warp, row = i / f.copies, copy = i - row * f.copies;
            const int y = blockIdx.y * (TILES / f.copies) + row, x = (blockIdx.x * TILE + own % TILE) * f.copies + copy;
            if (y >= p.out_h || x >= p.out_w) continue;
            const float4 sum = HAS_WMMA ? load4(room + (own * LINE_SUM + column)) : sum_of_taps(i, own % TILE, column);
            const float4 v = make_float4(fmaf(sum.x, back, bias.x), fmaf(sum.y, back, bias.y), fmaf(sum.z, back, bias.z), fmaf(sum.w, back, bias.w));
            outputs<1, 1>::template put_upto4<binary16>(p, y, x, channel, v, left);
        }
    }
    static __device__ __forceinline__ void compute(const ig_gpu_first_mma &f)
    {
        SHARED(float, room, [ROOM]);
        first_mma block(f, room);
        const int warp = threadIdx.x / 32;
        float sum[OF_WARP][ACROSS][8] = {};
        block.bring_all();
        /* a warp below the last row only brings and finishes */
        if (HAS_WMMA && (int)blockIdx.y * (TILES / f.copies) + warp * OF_WARP / f.copies < f.conv.out_h) block.multiply(sum);
        UNROLL
        for (int i = 0; i < OF_WARP; i++) {
            if (HAS_WMMA) {
                __syncthreads(); /* the last have read what these sums lie upon */
                UNROLL
                for (int n = 0; n < ACROSS; n++) wmma_store(room + (warp * TILE * LINE_SUM + n * TILE), sum[i][n], LINE_SUM);
                __syncthreads();
            }
            block.finish(room, i);
        }
    }
};

enum { ALL64 = 12240, FEW64 = 4352, ALL32 = 8176, FEW32 = 3584 }; /* floats of shared memory: launch/first_half.c */

GPU_KERNEL(128, 3, first_mma128x64, ig_gpu_first_mma)
{
    first_mma<float, 64, ALL64>::compute(p);
}

GPU_KERNEL(128, 3, first_mma128x64s, ig_gpu_first_mma)
{
    first_mma<float, 64, FEW64>::compute(p);
}

GPU_KERNEL(128, 4, first_mma128x32, ig_gpu_first_mma)
{
    first_mma<float, 32, ALL32>::compute(p);
}

GPU_KERNEL(128, 4, first_mma128x32s, ig_gpu_first_mma)
{
    first_mma<float, 32, FEW32>::compute(p);
}

/* Of pixels that are halves. */
GPU_KERNEL(128, 3, first_mma_half128x64, ig_gpu_first_mma)
{
    first_mma<binary16, 64, ALL64>::compute(p);
}

GPU_KERNEL(128, 3, first_mma_half128x64s, ig_gpu_first_mma)
{
    first_mma<binary16, 64, FEW64>::compute(p);
}

GPU_KERNEL(128, 4, first_mma_half128x32, ig_gpu_first_mma)
{
    first_mma<binary16, 32, ALL32>::compute(p);
}

GPU_KERNEL(128, 4, first_mma_half128x32s, ig_gpu_first_mma)
{
    first_mma<binary16, 32, FEW32>::compute(p);
}
