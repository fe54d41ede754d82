/*
 * Convolution as in conv.cu, for few pixels and long sums: a block computes 64 pixels x 128 channels, a thread 8 x 16 of them.
 *
 * Shared memory bounds the tiles of conv.cu: a thread of 8 x 8 reads 16 floats for 64 multiply-adds, at the full rate all that a multiprocessor
 * reads. One of 8 x 16 reads 24 for 128, three quarters of that. 128 sums leave registers for eight warps a multiprocessor, as many as a layer of
 * few tiles has in any case; what others would hide is asked for early instead. Pixels and weights go to shared memory without registers between
 * (cp.async, since sm_80; older chips load and store), two steps of 16 channels of a tap ahead, into three stages that are used by turns.
 *
 *     a stage    64 lines of pixels: 16 channels, four floats of gap | 16 rows of weights: 128 channels
 *
 * Pixels lie as they come, a thread reads four channels of one at once. Eight lines 20 floats apart begin in different banks, and
 * so do what eight lanes bring (row_of_piece). The block's halves of 64 threads have eight of a step's channels each: so few splits of the sum
 * (`splits`) fill a chip that conv_reduce has little to add. In the end each half gives the other one its sums of four pixels and writes the others.
 */
#include "kernels_gpu/cuda/conv.cuh"

/* ALIGNED: a tap's channels are whole quads that lie as such; else they are brought one at a time. */
template <bool ALIGNED> struct wide {
    enum { BM = 64, BN = 128, TM = 8, TN = 16, QUADS = TN / 4, HALF = 64 /* threads */, THREADS = 2 * HALF };
    enum { STEP = UNIT, PIECE = 4 /* floats that come at once */, OF_HALF = STEP / 2 /* channels */, STAGES = 3, AHEAD = STAGES - 1 };
    enum { LINE = STEP + PIECE, OF_A = BM * LINE, STAGE = OF_A + STEP * BN, ROOM = STAGES * STAGE };
    enum { PER_PIXEL = STEP / PIECE, PIXELS_APART = THREADS / PER_PIXEL, PIXELS = BM / PIXELS_APART };
    enum { PER_ROW = BN / PIECE, ROWS_APART = THREADS / PER_ROW, ROWS = STEP / ROWS_APART };
    enum { DOWN = BM / TM, ACROSS = BN / QUADS /* from a thread's pixel, quad of channels to its next */, GIVEN = TM / 2 * QUADS /* quads */ };
    static_assert((int)ROOM >= THREADS * GIVEN * 4, "sums have no room");

    origin from[PIXELS];
    const float *pixel[PIXELS], *row; /* to this thread's pieces of the next step to bring */
    int ky, kx, group, left; /* channels from that step's first to the tap's last */

    static __device__ __forceinline__ int pixel_piece()
    {
        return threadIdx.x % PER_PIXEL * PIECE;
    }
    __device__ __forceinline__ void point(const ig_gpu_conv &p, int c)
    {
        UNROLL
        for (int i = 0; i < PIXELS; i++) {
            const float *tap = tap_of<float>(p, flat_image(), group, from[i], ky, kx);
            pixel[i] = (tap ? tap : p.zeros) + (c + pixel_piece());
        }
    }
    __device__ __forceinline__ void begin(const ig_gpu_conv &p, int of, int first)
    {
        const int k = first_of<UNIT>(p, first), tap = k / p.ic, n = blockIdx.y * BN + threadIdx.x % PER_ROW * PIECE;
        group = of, left = p.ic - (k - tap * p.ic);
        ky = tap / p.kw, kx = tap - ky * p.kw;
        UNROLL
        for (int i = 0; i < PIXELS; i++) from[i] = origin_of(p, flat_image(), blockIdx.x * BM + row_of_piece() + i * PIXELS_APART);
        point(p, k - tap * p.ic);
        /* beyond the last channel another's, whose sums nobody reads */
        row = p.weights + (group * p.weight_group + (k + (int)threadIdx.x / PER_ROW) * p.oc4 + (n < p.oc4 ? n : 0));
    }
    /* Four channels of a pixel, of which there are n. */
    static __device__ __forceinline__ void bring_pixel(float *to, const float *piece, int n)
    {
        if (ALIGNED) COPY4(to, piece, n > 0);
        UNROLL
        for (int j = 0; j < PIECE; j++)
            if (!ALIGNED) COPY1(to + j, piece + j, j < n);
    }
    /* Asks memory for a step, which goes to its stage, and goes on to the next. */
    __device__ __forceinline__ void bring(const ig_gpu_conv &p, float *stage)
    {
        UNROLL
        for (int i = 0; i < PIXELS; i++)
            bring_pixel(stage + ((row_of_piece() + i * PIXELS_APART) * LINE + pixel_piece()), pixel[i], left - pixel_piece());
        UNROLL
        for (int i = 0; i < ROWS; i++) {
            const int k = (int)threadIdx.x / PER_ROW + i * ROWS_APART;
            COPY4(stage + (OF_A + k * BN + threadIdx.x % PER_ROW * PIECE), row + i * ROWS_APART * p.oc4, k < left);
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
    /* x, w: the half's first channel of the thread's first pixel, and its first quad of weights. */
    static __device__ __forceinline__ void multiply(const float *x, const float *w, float4 (&sum)[TM][QUADS])
    {
        UNROLL
        for (int k = 0; k < OF_HALF; k += PIECE) {
            float4 pixels[TM];
            UNROLL
            for (int i = 0; i < TM; i++) pixels[i] = load4(x + (i * DOWN * LINE + k));
            UNROLL
            for (int c = 0; c < PIECE; c++) {
                float4 weights[QUADS];
                UNROLL
                for (int j = 0; j < QUADS; j++) weights[j] = load4(w + ((k + c) * BN + j * ACROSS));
                UNROLL
                for (int n = 0; n < TM * TN; n++) {
                    const int j = n / TM, i = to_and_fro<TM, false>(j, n % TM);
                    at(sum[i][j / 4], j % 4) = fmaf(at(pixels[i], c), at(weights[j / 4], j % 4), at(sum[i][j / 4], j % 4));
                }
            }
        }
    }
    /* Sums of the four pixels from the i-th on, which the other half writes. */
    template <int FIRST> static __device__ __forceinline__ void give(float *room, const float4 (&sum)[TM][QUADS])
    {
        UNROLL
        for (int i = 0; i < GIVEN; i++) store4(room + (i * THREADS + threadIdx.x) * 4, sum[FIRST + i / QUADS][i % QUADS]);
    }
    /* Those of the half of so many channels less come first. */
    template <int FIRST>
    static __device__ __forceinline__ void put(const ig_gpu_conv &p, const float *room, unsigned z, int m0, int n0, float4 (&sum)[TM][QUADS])
    {
        const int count = p.out_h * p.out_w, group = z / p.splits, split = z - group * p.splits;
        UNROLL
        for (int j = 0; j < QUADS; j++) {
            const int channel = n0 + j * ACROSS, n = p.oc - channel;
            if (n <= 0) continue;
            const float4 bias = split == 0 ? bias_of(p, group * p.oc + channel, n) : make_float4(0, 0, 0, 0);
            UNROLL
            for (int i = 0; i < TM / 2; i++) {
                const int m = m0 + (FIRST + i) * DOWN;
                if (m >= count) continue;
                const float4 other = load4(room + ((i * QUADS + j) * THREADS + (threadIdx.x ^ HALF)) * 4), own = sum[FIRST + i][j];
                const float4 total = sum_of(bias, FIRST ? sum_of(other, own) : sum_of(own, other));
                if (p.splits > 1) store4(p.partial + (((long long)z * count + m) * p.oc4 + channel), total);
                else finish<LONG_CALLED>(p, m, group * p.oc + channel, total, n);
            }
        }
        if (LONG_CALLED && p.splits <= 1 && is_long(p.act)) {
#pragma unroll 1
            for (int i = 0; i < GIVEN; i++) {
                const int m = m0 + (FIRST + i / QUADS) * DOWN, channel = n0 + i % QUADS * ACROSS;
                if (m < count && channel < p.oc) finish_late(p, m, group * p.oc + channel, p.oc - channel);
            }
        }
    }
    static __device__ __forceinline__ void compute(const ig_gpu_conv &p)
    {
        SHARED(float, room, [ROOM]);
        const int group = blockIdx.z / p.splits;
        const units of = units_of_piece<UNIT>(p, flat_image(), blockIdx.z - group * p.splits, blockIdx.x * BM, BM);
        const int steps = of.last - of.first;
        const int half = threadIdx.x / HALF, warp = threadIdx.x % HALF / 32, lane = threadIdx.x % 32;
        /* lanes that differ in bit 0 alone read the same pixels, those that differ in bit 1 the same weights */
        const int tm = lane / 2 % 8, tn = (warp * 4 + (lane & 1) + lane / 16 * 2) * 4;
        float4 sum[TM][QUADS];
        UNROLL
        for (int i = 0; i < TM * QUADS; i++) sum[i / QUADS][i % QUADS] = make_float4(0, 0, 0, 0);
        wide next;
        if (steps > 0) next.begin(p, group, of.first);
        UNROLL
        for (int s = 0; s < AHEAD; s++) {
            if (s < steps) next.bring(p, room + s * STAGE);
            COPY_GROUP();
        }
        const float *x = room + (tm * LINE + half * OF_HALF), *w = room + (OF_A + half * OF_HALF * BN + tn);
        int at = 0, to = AHEAD * STAGE;
#pragma unroll 1
        for (int s = 0; s < steps; s++) {
            COPY_WAIT(AHEAD - 1); /* this step is there, and all have read that whose place is taken */
            __syncthreads();
            if (s + AHEAD < steps) next.bring(p, room + to);
            COPY_GROUP();
            multiply(x + at, w + at, sum);
            at = at == AHEAD * STAGE ? 0 : at + STAGE;
            to = to == AHEAD * STAGE ? 0 : to + STAGE;
        }
        __syncthreads();
        if (half) give<0>(room, sum);
        else give<TM / 2>(room, sum);
        __syncthreads();
        const int m0 = blockIdx.x * BM + tm, n0 = blockIdx.y * BN + tn;
        if (half) put<TM / 2>(p, room, blockIdx.z, m0, n0, sum);
        else put<0>(p, room, blockIdx.z, m0, n0, sum);
    }
};

GPU_KERNEL(128, 2, conv_64x128, ig_gpu_conv)
{
    wide<true>::compute(p);
}

GPU_KERNEL(128, 2, conv_any64x128, ig_gpu_conv)
{
    wide<false>::compute(p);
}
