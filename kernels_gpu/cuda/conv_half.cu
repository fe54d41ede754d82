/*
 * Convolution on halves (IEEE 754 binary16 as storage): weights, and pixels unless the function says so, come in 16 bits and are
 * widened on their way to the blocks of conv.cu, which multiply and add in single precision. Outputs and residuals are of either precision.
 *
 * conv_half_mma*: by tensor cores, which multiply halves exactly and add up in single precision. A block of 128 threads computes 64 or
 * 128 pixels x 64 channels in steps of 32 channels of a tap, a warp 32 or 64 x 32 of them. Both operands lie in shared memory as they
 * are stored, lines of pixels and lines of weights, in three stages that are used by turns: while one is multiplied the next two are under
 * way, by copies that need no registers on chips that have them (sm_80), else through registers, one step at a time. Lines are eight
 * halves longer than what is in them, so that eight of them begin in different banks. Tensor cores cut sums off instead of
 * rounding them (conv_mma.cu): they add up 256 channels at a time, and these sums are added, rounded, to those of the thread. In the
 * end they go through shared memory, as only the chip knows which of them a lane has. Chips without tensor cores (before sm_70) have the multiply-adds of the other functions in their place.
 *
 * deconv_half_*: the phases of a transposed convolution, blocks of all of them by one launch, as in conv.cu.
 */
#include "kernels_gpu/cuda/conv.cuh"

GPU_KERNEL(128, 3, conv_half128x64, ig_gpu_conv)
{
    tile<128, 64, 16, 8, 8, false, quads<128, 16, 128, flat_image, UNIT, true, binary16>, binary16>(p, flat_image(), blockIdx.z);
}

GPU_KERNEL(64, 6, conv_half64x64, ig_gpu_conv)
{
    tile<64, 64, 16, 8, 8, false, quads<64, 16, 64, flat_image, UNIT, true, binary16>, binary16>(p, flat_image(), blockIdx.z);
}

GPU_KERNEL(128, 3, conv_half64x64s, ig_gpu_conv)
{
    tile<64, 64, 16, 8, 4, false, quads<64, 16, 128, flat_image, UNIT, true, binary16>, binary16>(p, flat_image(), blockIdx.z);
}

GPU_KERNEL(64, 8, conv_half32x32, ig_gpu_conv)
{
    tile<32, 32, 16, 4, 4, false, quads<32, 16, 64, flat_image, UNIT, true, binary16>, binary16>(p, flat_image(), blockIdx.z);
}

GPU_KERNEL(128, 3, conv_half_any64x64, ig_gpu_conv)
{
    tile<64, 64, 16, 8, 4, false, singles<64, 16, 128, flat_image, UNIT, binary16>, binary16>(p, flat_image(), blockIdx.z);
}

GPU_KERNEL(64, 8, conv_half_any32x32, ig_gpu_conv)
{
    tile<32, 32, 16, 4, 4, false, singles<32, 16, 64, flat_image, UNIT, binary16>, binary16>(p, flat_image(), blockIdx.z);
}

/* Of pixels in single precision. */
GPU_KERNEL(128, 3, conv_half_floats64x64, ig_gpu_conv)
{
    tile<64, 64, 16, 8, 4, false, quads<64, 16, 128>, binary16>(p, flat_image(), blockIdx.z);
}

GPU_KERNEL(128, 3, conv_half_floats_any64x64, ig_gpu_conv)
{
    tile<64, 64, 16, 8, 4, false, singles<64, 16, 128>, binary16>(p, flat_image(), blockIdx.z);
}

GPU_KERNEL(64, 8, conv_half_floats_any32x32, ig_gpu_conv)
{
    tile<32, 32, 16, 4, 4, false, singles<32, 16, 64>, binary16>(p, flat_image(), blockIdx.z);
}

GPU_KERNEL(128, 3, deconv_half64x64, ig_gpu_deconv)
{
    phase_tile<64, 8, 4, false, quads<64, 16, 128, flat_image, UNIT, true, binary16>, binary16>(p);
}

GPU_KERNEL(64, 8, deconv_half32x32, ig_gpu_deconv)
{
    phase_tile<32, 4, 4, false, quads<32, 16, 64, flat_image, UNIT, true, binary16>, binary16>(p);
}

GPU_KERNEL(64, 8, deconv_half_any32x32, ig_gpu_deconv)
{
    phase_tile<32, 4, 4, false, singles<32, 16, 64, flat_image, UNIT, binary16>, binary16>(p);
}

GPU_KERNEL(128, 3, deconv_half_floats64x64, ig_gpu_deconv)
{
    phase_tile<64, 8, 4, false, quads<64, 16, 128>, binary16>(p);
}

GPU_KERNEL(64, 8, deconv_half_floats_any32x32, ig_gpu_deconv)
{
    phase_tile<32, 4, 4, false, singles<32, 16, 64>, binary16>(p);
}

GPU_KERNEL(128, 8, conv_half_reduce, ig_gpu_conv)
{
    reduce<binary16>(p);
}

enum { STEP = MMA_UNIT, FOLDED = 8 /* steps whose sums are cut off */, PIECE = 8 /* halves that come at once: 16 bytes */, TILE16 = 16, MMA_THREADS = 128 };

template <int BM, bool ALIGNED> struct mma_block {
    enum { BN = 64, WARPS_DOWN = 2, WARPS_ACROSS = 2, DOWN = BM / WARPS_DOWN / TILE16, ACROSS = BN / WARPS_ACROSS / TILE16 };
    enum { STAGES = 3, AHEAD = STAGES - 1, LINE_A = STEP + PIECE, LINE_B = BN + PIECE /* halves */ };
    enum { OF_A = BM * LINE_A / 2, STAGE = OF_A + STEP * LINE_B / 2, LINE_SUM = BN + 4 /* floats */, ROOM = STAGES * STAGE };
    enum { PER_PIXEL = STEP / PIECE, PIXELS = BM * PER_PIXEL / MMA_THREADS, PIXELS_APART = MMA_THREADS / PER_PIXEL };
    enum { PER_ROW = BN / PIECE, ROWS = STEP * PER_ROW / MMA_THREADS, ROWS_APART = MMA_THREADS / PER_ROW };
    static_assert((int)ROOM >= BM * (int)LINE_SUM, "sums have no room");

    origin from[PIXELS];
    const binary16 *pixel[PIXELS], *row; /* to this thread's pieces of the next step to bring */
    float4 pixel_value[PIXELS], row_value[ROWS];
    int ky, kx, group, left; /* channels from that step's first to the tap's last */

    static __device__ __forceinline__ bool copies()
    {
        return HAS_COPIES && ALIGNED;
    }
    static __device__ __forceinline__ int pixel_piece()
    {
        return threadIdx.x % PER_PIXEL * PIECE;
    }
    static __device__ __forceinline__ int row_piece()
    {
        return threadIdx.x % PER_ROW * PIECE;
    }
    __device__ __forceinline__ void point(const ig_gpu_conv &p, int c)
    {
        UNROLL
        for (int i = 0; i < PIXELS; i++) {
            const binary16 *tap = tap_of<binary16>(p, flat_image(), group, from[i], ky, kx);
            pixel[i] = (tap ? tap : (const binary16 *)p.zeros) + (c + pixel_piece());
        }
    }
    /* How many steps there are to the unit `last`. */
    __device__ __forceinline__ int begin(const ig_gpu_conv &p, int of, int first, int last)
    {
        const int k = first_of<STEP>(p, first), tap = k / p.ic, n = blockIdx.y * BN + row_piece();
        group = of, left = p.ic - (k - tap * p.ic);
        ky = tap / p.kw, kx = tap - ky * p.kw;
        UNROLL
        for (int i = 0; i < PIXELS; i++)
            from[i] = origin_of(p, flat_image(), blockIdx.x * BM + row_of_piece() + i * PIXELS_APART);
        point(p, k - tap * p.ic);
        row = (const binary16 *)p.weights + (group * p.weight_group + (k + (int)threadIdx.x / PER_ROW) * p.oc4 + (n < p.oc4 ? n : 0));
        return last - first;
    }
    static __device__ __forceinline__ unsigned word_of(const binary16 *p, int n)
    {
        return n > 1 ? p[0].bits | (unsigned)p[1].bits << 16 : n > 0 ? p[0].bits : 0u;
    }
    /* n <= 8 halves wherever they lie, the rest zero. */
    static __device__ __forceinline__ float4 piece_of(const binary16 *p, int n)
    {
        return make_float4(__uint_as_float(word_of(p, n)), __uint_as_float(word_of(p + 2, n - 2)),
                           __uint_as_float(word_of(p + 4, n - 4)), __uint_as_float(word_of(p + 6, n - 6)));
    }
    static __device__ __forceinline__ float *pixel_slot(float *stage, int i)
    {
        return stage + ((row_of_piece() + i * PIXELS_APART) * LINE_A + pixel_piece()) / 2;
    }
    static __device__ __forceinline__ float *row_slot(float *stage, int i)
    {
        return stage + OF_A + ((threadIdx.x / PER_ROW + i * ROWS_APART) * LINE_B + row_piece()) / 2;
    }
    /* Asks memory for a step, goes on to the next, and where registers are between, puts what came to its stage. */
    __device__ __forceinline__ void bring(const ig_gpu_conv &p, float *stage)
    {
        const int n = left - pixel_piece();
        UNROLL
        for (int i = 0; i < PIXELS; i++) {
            const float *piece = (const float *)pixel[i];
            if (copies()) COPY4(pixel_slot(stage, i), piece, n > 0);
            else if (ALIGNED) pixel_value[i] = n > 0 ? load4(piece) : make_float4(0, 0, 0, 0);
            else pixel_value[i] = piece_of(pixel[i], n);
        }
        UNROLL
        for (int i = 0; i < ROWS; i++) {
            const float *piece = (const float *)(row + i * ROWS_APART * p.oc4);
            const bool there = (int)threadIdx.x / PER_ROW + i * ROWS_APART < left;
            if (copies()) COPY4(row_slot(stage, i), piece, there);
            else row_value[i] = there ? load4(piece) : make_float4(0, 0, 0, 0);
        }
        row += min(left, (int)STEP) * p.oc4;
        left -= STEP;
        if (left > 0) {
            UNROLL
            for (int i = 0; i < PIXELS; i++) pixel[i] += STEP;
            return;
        }
        left = p.ic;
        if (++kx == p.kw) kx = 0, ky++;
        point(p, 0);
    }
    __device__ __forceinline__ void put(float *stage) const
    {
        if (copies()) return;
        UNROLL
        for (int i = 0; i < PIXELS; i++) store4(pixel_slot(stage, i), pixel_value[i]);
        UNROLL
        for (int i = 0; i < ROWS; i++) store4(row_slot(stage, i), row_value[i]);
    }
    /* A step of `channels`, by the warp's first pixel and channel. */
    static __device__ __forceinline__ void multiply(const float *stage, int down, int across, int channels, float (&sum)[DOWN][ACROSS][8])
    {
        const binary16 *a = (const binary16 *)stage + down * LINE_A, *b = (const binary16 *)(stage + OF_A) + across;
        UNROLL
        for (int k = 0; k < STEP; k += TILE16) {
            if (k >= channels) return; /* zeros */
            unsigned w[ACROSS][8];
            UNROLL
            for (int j = 0; j < ACROSS; j++) wmma_load_b(w[j], b + (k * LINE_B + j * TILE16), LINE_B);
            UNROLL
            for (int i = 0; i < DOWN; i++) {
                unsigned x[8];
                wmma_load_a(x, a + (i * TILE16 * LINE_A + k), LINE_A);
                UNROLL
                for (int j = 0; j < ACROSS; j++) wmma(sum[i][j], x, w[j]);
            }
        }
    }
    /* sum += part, which becomes zero. */
    static __device__ __forceinline__ void fold(float (&sum)[DOWN][ACROSS][8], float (&part)[DOWN][ACROSS][8])
    {
        UNROLL
        for (int i = 0; i < DOWN * ACROSS * 8; i++) {
            const int y = i / (ACROSS * 8), x = i / 8 % ACROSS;
            sum[y][x][i % 8] += part[y][x][i % 8];
            part[y][x][i % 8] = 0;
        }
    }
    /* Four channels of a pixel a thread: sums with bias and residual of some pixels first, so that these are under way together. */
    static __device__ __forceinline__ void finish_all(const ig_gpu_conv &p, const float *room, unsigned z)
    {
        enum { QUADS = BN / 4, APART = MMA_THREADS / QUADS, AT_ONCE = 4 };
        const int count = p.out_h * p.out_w, row = threadIdx.x / QUADS, column = threadIdx.x % QUADS * 4;
        const int group = z / p.splits, split = z - group * p.splits;
        const int channel = blockIdx.y * BN + column, n = p.oc - channel, of_all = group * p.oc + channel;
        if (n <= 0) return;
        const float4 bias = split == 0 ? bias_of<binary16>(p, of_all, n) : make_float4(0, 0, 0, 0);
#pragma unroll 1
        for (int first = row; first < BM; first += AT_ONCE * APART) {
            float4 v[AT_ONCE];
            UNROLL
            for (int i = 0; i < AT_ONCE; i++) {
                const int own = first + i * APART, m = blockIdx.x * BM + own;
                v[i] = sum_of(load4(room + (own * LINE_SUM + column)), bias);
                if (m < count && p.splits == 1) v[i] = with_residual(p, m, of_all, v[i], n);
            }
            UNROLL
            for (int i = 0; i < AT_ONCE; i++) {
                const int m = blockIdx.x * BM + first + i * APART;
                if (m >= count) continue;
                if (p.splits > 1) store4(p.partial + (((long long)z * count + m) * p.oc4 + channel), v[i]);
                else put_either(p, m, of_all, v[i], n);
            }
        }
    }
    /* z: which group and piece of the sum. */
    static __device__ __forceinline__ void compute(const ig_gpu_conv &p, unsigned z)
    {
        SHARED(float, room, [ROOM]);
        const int group = z / p.splits, split = z - group * p.splits, warp = threadIdx.x / 32;
        const units of = units_of_piece<STEP>(p, flat_image(), split, blockIdx.x * BM, BM);
        const int down = warp / WARPS_ACROSS * (BM / WARPS_DOWN), across = warp % WARPS_ACROSS * (BN / WARPS_ACROSS);
        /* a warp beyond the last pixel or channel only brings */
        const bool mine = (int)blockIdx.x * BM + down < p.out_h * p.out_w && (int)blockIdx.y * BN + across < p.oc;
        float sum[DOWN][ACROSS][8] = {}, part[DOWN][ACROSS][8] = {};
        mma_block next;
        next.left = 0;
        const int steps = of.first < of.last ? next.begin(p, group, of.first, of.last) : 0;
        int left = next.left; /* of the step that is multiplied */
        UNROLL
        for (int s = 0; s < AHEAD; s++) {
            if (s < steps) {
                next.bring(p, room + s * STAGE);
                next.put(room + s * STAGE);
            }
            COPY_GROUP();
        }
        int at = 0, to = AHEAD * STAGE;
        for (int s = 0; s < steps; s++) {
            const bool more = s + AHEAD < steps;
            COPY_WAIT(AHEAD - 1); /* this step is there, and all have read that whose place is taken */
            __syncthreads();
            if (more) next.bring(p, room + to);
            COPY_GROUP();
            if (mine) multiply(room + at, down, across, left, part);
            if (s % FOLDED == FOLDED - 1) fold(sum, part);
            if (more) next.put(room + to);
            left -= STEP;
            if (left <= 0) left = p.ic;
            at = at == AHEAD * STAGE ? 0 : at + STAGE;
            to = to == AHEAD * STAGE ? 0 : to + STAGE;
        }
        fold(sum, part);
        __syncthreads();
        UNROLL
        for (int i = 0; i < DOWN * ACROSS; i++) {
            const int y = down + i / ACROSS * TILE16, x = across + i % ACROSS * TILE16;
            wmma_store(room + (y * LINE_SUM + x), sum[i / ACROSS][i % ACROSS], LINE_SUM);
        }
        __syncthreads();
        finish_all(p, room, z);
    }
};

/* FLOATS: what brings pixels to multiply-adds, where there are no tensor cores. */
template <int BM, int TN, bool ALIGNED, typename FLOATS> static __device__ __forceinline__ void half_mma(const ig_gpu_conv &p, unsigned z)
{
    if (HAS_WMMA) mma_block<BM, ALIGNED>::compute(p, z);
    else tile<BM, 64, 16, 8, TN, false, FLOATS, binary16>(p, flat_image(), z);
}

template <bool ALIGNED, typename FLOATS> static __device__ __forceinline__ void phase_mma(const ig_gpu_deconv &d)
{
    const int i = blockIdx.z / d.all.groups;
    const ig_gpu_conv p = conv_of_phase<binary16>(d, i);
    if ((int)blockIdx.x * 64 < p.out_h * p.out_w) half_mma<64, 4, ALIGNED, FLOATS>(p, blockIdx.z - i * d.all.groups);
}

GPU_KERNEL(128, 2, conv_half_mma128x64, ig_gpu_conv)
{
    half_mma<128, 8, true, quads<128, 16, 128, flat_image, MMA_UNIT, true, binary16> >(p, blockIdx.z);
}

GPU_KERNEL(128, 3, conv_half_mma64x64, ig_gpu_conv)
{
    half_mma<64, 4, true, quads<64, 16, 128, flat_image, MMA_UNIT, true, binary16> >(p, blockIdx.z);
}

GPU_KERNEL(128, 3, conv_half_mma_any64x64, ig_gpu_conv)
{
    half_mma<64, 4, false, singles<64, 16, 128, flat_image, MMA_UNIT, binary16> >(p, blockIdx.z);
}

GPU_KERNEL(128, 3, deconv_half_mma64x64, ig_gpu_deconv)
{
    phase_mma<true, quads<64, 16, 128, flat_image, MMA_UNIT, true, binary16> >(p);
}

GPU_KERNEL(128, 3, deconv_half_mma_any64x64, ig_gpu_deconv)
{
    phase_mma<false, singles<64, 16, 128, flat_image, MMA_UNIT, binary16> >(p);
}
