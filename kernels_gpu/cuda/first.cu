/*
 * Convolutions of one to four channels, as a network's first is, under windows of 3x3 to 11x11, any stride, no dilation.
 *
 * A block computes 8 x BX pixels x BN channels, a thread eight pixels of a row x TN of them. The patch of the image that it needs and the weights
 * of its channels lie in shared memory whole, so that the loop over the taps waits at no barrier and finds no index.
 *
 * A channel of the patch, for strides of 2 (a column is apart by them, as are rows):
 *
 *     row 0   column 0 2 4 ... | column 1 3 5 ...      rows and columns whose numbers leave the same rest by the stride, a phase, lie
 *     row 2   column 0 2 4 ... | column 1 3 5 ...      together: of a phase neighbouring outputs have neighbouring pixels, whatever
 *     ...                                              the stride
 *     row 1   column 0 2 4 ... | column 1 3 5 ...
 *
 * Up to four taps of a phase are a step: twelve pixels side by side, read as three quads, that a thread's eight outputs share, and the taps'
 * weights. So a thread of 8 x 8 reads 11 floats for 64 multiply-adds where 7x7 is gone through, and 12 to 15 where 3x3 is; of a product of
 * matrices 16.
 * Lanes that differ in bit 0 read the same pixels, those that differ in bit 1 the same weights, and the eight rows of a warp lie an
 * odd number of quads apart (`line`): no two of them meet in a bank.
 *
 * k2, k4: every second or fourth row of taps is added up by threads of its own, for outputs too few to fill a chip; the sums go through
 * shared memory in the end. Sums go by channels, rows of taps, phases and taps. Where a chip copies without registers, all but the
 * first channel's weights are still under way while that is computed.
 * first_half_*: weights are halves, outputs and residuals of either precision, pixels floats.
 */
#include "kernels_gpu/cuda/conv.cuh"
#include "kernels_gpu/cuda/outputs.cuh"

enum { ROWS_OF_TAPS = 4 * 11 };

template <int BX, int BN, int TN, int PIECES, int ROOM, typename W = float> struct first {
    enum { BY = 8, TX = 8, QUADS = TN / 4, ACROSS = BN / TN / 4 /* warps */, APART = 16 /* a thread's quads of channels */ };
    enum { OWN = BY * (BX / TX) * (BN / TN) /* threads of a piece of the sum */, THREADS = OWN * PIECES, STEP = 4 /* taps */ };
    static_assert((PIECES - 1) * OWN * TX * TN <= ROOM, "sums have no room");

    static __device__ __forceinline__ void bring_patch(const ig_gpu_first &f, float *patch)
    {
        const ig_gpu_conv &p = f.conv;
        const int y0 = blockIdx.y * BY * p.sh - p.top, x0 = blockIdx.x * BX * p.sw - p.left;
        for (int word = threadIdx.x % 32; word < f.phases_x * f.columns; word += 32) {
            const int phase = word / f.columns, column = (word - phase * f.columns) * p.sw + phase, x = x0 + column;
            const bool inside = column < (BX - 1) * p.sw + p.kw && (unsigned)x < (unsigned)p.in_w;
            for (int of = 0; of < f.phases_y; of++)
#pragma unroll 2
                for (int i = threadIdx.x / 32; i < min(f.rows, f.all_rows - of * f.rows); i += THREADS / 32) {
                    const int y = y0 + i * p.sh + of;
                    const bool there = inside && (unsigned)y < (unsigned)p.in_h;
                    const float *from = p.in + (there ? y * p.in_row + x * p.in_pixel : 0);
                    float *to = patch + ((of * f.rows + i) * f.line + word);
                    UNROLL
                    for (int c = 0; c < 4; c++)
                        if (c < p.ic) COPY1(to + c * f.plane, from + c, there);
                }
        }
    }
    /* Rows of weights from the k-th of the sum to the last. */
    static __device__ __forceinline__ void bring_weights(const ig_gpu_conv &p, float *weights, int k, int last)
    {
        const int n = threadIdx.x % (BN / 4) * 4, channel = blockIdx.z * BN + n;
        const W *from = (const W *)p.weights + (channel < p.oc4 ? channel : 0); /* beyond the last another's, whose sums nobody reads */
#pragma unroll 4
        for (k += threadIdx.x / (BN / 4); k < last; k += THREADS / (BN / 4)) {
            float *to = weights + (k * BN + n);
            if (sizeof(W) == sizeof(float)) COPY4(to, (const float *)(from + k * p.oc4), true);
            else store4(to, load4(from + k * p.oc4));
        }
    }
    /* So many taps side by side of a phase. */
    template <int TAPS> static __device__ __forceinline__ void step(const float *x, const float *w, float4 (&sum)[TX][QUADS])
    {
        float4 pixel[(TX + TAPS - 1 + 3) / 4];
        UNROLL
        for (int i = 0; i < (TX + TAPS - 1 + 3) / 4; i++) pixel[i] = load4(x + i * 4);
        UNROLL
        for (int t = 0; t < TAPS; t++) {
            float4 weight[QUADS];
            UNROLL
            for (int j = 0; j < QUADS; j++) weight[j] = load4(w + (t * BN + j * APART));
            UNROLL
            for (int n = 0; n < TX * TN; n++) {
                const int i = n / TN, j = to_and_fro<TN, true>(i, n % TN);
                at(sum[i][j / 4], j % 4) = fmaf(at(pixel[(i + t) / 4], (i + t) % 4), at(weight[j / 4], j % 4), at(sum[i][j / 4], j % 4));
            }
        }
    }
    /* A row of taps. */
    static __device__ __forceinline__ void add_row(const ig_gpu_first &f, const float *x, const float *w, float4 (&sum)[TX][QUADS])
    {
#pragma unroll 1
        for (int phase = 0; phase < f.phases_x; phase++, x += f.columns) {
            const float *from = x;
            int taps = phase < f.full_phases ? f.taps : f.taps - 1;
#pragma unroll 1
            for (; taps >= STEP; taps -= STEP, from += STEP, w += STEP * BN) step<STEP>(from, w, sum);
            if (taps == 3) step<3>(from, w, sum);
            else if (taps == 2) step<2>(from, w, sum);
            else if (taps == 1) step<1>(from, w, sum);
            w += taps * BN;
        }
    }
    static __device__ __forceinline__ void join(float *room, float4 (&sum)[TX][QUADS])
    {
        const int piece = threadIdx.x / OWN;
        float *mine = room + threadIdx.x % OWN * 4;
        __syncthreads();
        UNROLL
        for (int i = 0; i < TX * QUADS; i++)
            if (piece > 0) store4(mine + ((piece - 1) * TX * QUADS + i) * (OWN * 4), sum[i / QUADS][i % QUADS]);
        __syncthreads();
        UNROLL
        for (int i = 0; i < TX * QUADS; i++)
            UNROLL
            for (int other = 0; other < PIECES - 1; other++)
                if (piece == 0) sum[i / QUADS][i % QUADS] = sum_of(sum[i / QUADS][i % QUADS], load4(mine + (other * TX * QUADS + i) * (OWN * 4)));
    }
    static __device__ __forceinline__ void put(const ig_gpu_conv &p, int y, int x, int n0, float4 (&sum)[TX][QUADS])
    {
        const unsigned nothing = (unsigned)p.splits >> 31;
        UNROLL
        for (int i = 0; i < TX * TN; i++) at(sum[i / TN][i % TN / 4], i % 4) = moved(at(sum[i / TN][i % TN / 4], i % 4), nothing);
        UNROLL
        for (int i = 0; i < TX; i++) {
            if (y >= p.out_h || x + i >= p.out_w) continue;
            UNROLL
            for (int j = 0; j < QUADS; j++) {
                const int channel = n0 + j * APART;
                if (channel < p.oc) outputs<1, 1>::template put_upto4<W>(p, y, x + i, channel, sum[i][j], p.oc - channel);
            }
        }
    }
    static __device__ __forceinline__ void compute(const ig_gpu_first &f)
    {
        SHARED(int, rows, [ROWS_OF_TAPS]); /* where those of the first output lie in the patch */
        SHARED(float, room, [ROOM]);
        const ig_gpu_conv &p = f.conv;
        const int all_rows = p.ic * p.kh, taps = p.kh * p.kw;
        const int piece = threadIdx.x / OWN, warp = threadIdx.x % OWN / 32, lane = threadIdx.x % 32;
        const int y = lane / 2 % BY, x = warp / ACROSS * TX, n = warp % ACROSS * (4 * TN) + ((lane & 1) + lane / 16 * 2) * 4;
        const int n0 = blockIdx.z * BN + n;
        float *const patch = room + p.ic * taps * BN;
        if ((int)threadIdx.x < all_rows) {
            const int c = threadIdx.x / p.kh, ky = threadIdx.x - c * p.kh, down = ky / p.sh;
            rows[threadIdx.x] = c * f.plane + ((ky - down * p.sh) * f.rows + down) * f.line;
        }
        bring_patch(f, patch);
        bring_weights(p, room, 0, taps);
        COPY_GROUP();
        bring_weights(p, room, taps, p.ic * taps);
        COPY_GROUP();
        float4 sum[TX][QUADS];
        UNROLL
        for (int j = 0; j < QUADS; j++) {
            const int left = p.oc - n0 - j * APART;
            const float4 from = piece == 0 && left > 0 ? bias_of<W>(p, n0 + j * APART, left) : make_float4(0, 0, 0, 0);
            UNROLL
            for (int i = 0; i < TX; i++) sum[i][j] = from;
        }
        const float *const mine = patch + (y * f.line + x);
        int row = piece;
#pragma unroll 1
        for (int part = 0; part < 2; part++) { /* the first channel, the others */
            if (part == 0) COPY_WAIT(1);
            else COPY_WAIT(0);
            __syncthreads();
            const int last = part == 0 ? p.kh : all_rows;
#pragma unroll 1
            for (; row < last; row += PIECES) add_row(f, mine + rows[row], room + (row * p.kw * BN + n), sum);
        }
        if (PIECES > 1) join(room, sum);
        if (piece == 0) put(p, blockIdx.y * BY + y, blockIdx.x * BX + x, n0, sum);
    }
};

enum { ALL = 12240, SOME = 6656, FEW = 5120 }; /* floats of shared memory: launch/first.c */

GPU_KERNEL(128, 4, first_128x64, ig_gpu_first)
{
    first<16, 64, 8, 1, ALL>::compute(p);
}

GPU_KERNEL(128, 4, first_128x64s, ig_gpu_first)
{
    first<16, 64, 8, 1, FEW>::compute(p);
}

GPU_KERNEL(128, 6, first_64x32k2, ig_gpu_first)
{
    first<8, 32, 4, 2, SOME>::compute(p);
}

GPU_KERNEL(128, 4, first_64x16k4, ig_gpu_first)
{
    first<8, 16, 4, 4, ALL>::compute(p);
}

GPU_KERNEL(128, 4, first_half128x64, ig_gpu_first)
{
    first<16, 64, 8, 1, ALL, binary16>::compute(p);
}

GPU_KERNEL(128, 4, first_half128x64s, ig_gpu_first)
{
    first<16, 64, 8, 1, FEW, binary16>::compute(p);
}

GPU_KERNEL(128, 6, first_half64x32k2, ig_gpu_first)
{
    first<8, 32, 4, 2, SOME, binary16>::compute(p);
}

GPU_KERNEL(128, 4, first_half64x16k4, ig_gpu_first)
{
    first<8, 16, 4, 4, ALL, binary16>::compute(p);
}
