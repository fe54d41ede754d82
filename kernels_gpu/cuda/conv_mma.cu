/*
 * Convolution in single precision by tensor cores, which multiply only numbers of 8 bits (bfloat16), but at several times the rate of an
 * fp32 multiply-add. The 24 bits of a float are three such numbers, x = x0 + x1 + x2, exactly: the upper half of x, of what is left,
 * and of what is left of that. Of the nine products of the pieces of x and y six are added up,
 *   xy = x0y0 + (x0y1 + x1y0) + (x0y2 + x1y1 + x2y0) + r,   |r| < 2^-20 |xy|, 2^-24 |xy| as a rule
 * (Henry, Tang, Heinecke: Leveraging the bfloat16 Artificial Intelligence Datatype For Higher-Precision Computations, ARITH 2019).
 * Tensor cores cut sums off instead of rounding them (Fasi, Higham, Mikaitis, Pranesh: Numerical behavior of NVIDIA tensor cores,
 * PeerJ Computer Science 2021): they add up 16 k at a time, the small products first, and these sums are added, rounded, to those of
 * the thread. Infinite operands give NaN.
 *
 * A block computes 64 pixels x 64 or 128 channels in steps of 32 channels of a tap. It goes through the sum as conv.cu's do (conv.cuh). A warp
 * has 16 channels of all pixels: weights go from memory into the registers of the one lane that needs them, a step ahead, and are cut into
 * pieces there; pixels are cut by the thread that brings them and lie in shared memory as the fragments that lanes hold of them.
 *
 * mma.m16n8k16 has in lane 4g + t: of pixels rows g and g + 8 at k = 2t, 2t + 1, 2t + 8, 2t + 9; of weights those k of column g; of sums
 * rows g and g + 8 of columns 2t, 2t + 1. Which k, pixel and channel these are is free as long as both sides agree, and is such that what a
 * lane has lies side by side in memory: the k are 4t ... 4t + 3, the columns g of two products are channels 2g and 2g + 1, so that sums are of
 * channels 4t ... 4t + 3, and rows g and g + 8 are pixels that the same thread brings.
 *
 * A chip without them (before sm_80) has the multiply-adds of conv_64x64s in their place.
 */
#include "kernels_gpu/cuda/conv.cuh"

enum { PIECES = 3, K16 = MMA_UNIT / 16, ROWS16 = 4 /* of 64 pixels */, COLUMNS8 = 2 /* of a warp's channels */ };
enum { FRAGMENT = 128 /* words of a piece of 16 pixels x 16 k, four a lane */, OF_ROWS16 = PIECES * FRAGMENT, TURN = ROWS16 * OF_ROWS16 };
enum { HALF_ROOM = K16 * TURN, TURNED = 16 /* the second 16 k have quads of lanes changed: what eight lanes store goes to 32 banks */ };

/* The three pieces of two floats, each two in a word. */
static __device__ __forceinline__ void cut(float low, float high, unsigned (&to)[PIECES])
{
    UNROLL
    for (int i = 0; i < PIECES; i++) {
        to[i] = __byte_perm(__float_as_uint(low), __float_as_uint(high), 0x7632);
        low -= __uint_as_float(__float_as_uint(low) & 0xffff0000);
        high -= __uint_as_float(__float_as_uint(high) & 0xffff0000);
    }
}

/*
 * A thread brings a quad of k of pixels that are APART from each other, of two at a time what a lane has of a fragment: rows g and g + 8.
 * The i-th eight rows of a block's fragments begin with this pixel:
 */
template <int APART> static __device__ __forceinline__ int pixel_of(int i)
{
    enum { FRAGMENTS = APART / 8 };
    return i / 2 / FRAGMENTS * 2 * APART + i % 2 * APART + i / 2 % FRAGMENTS * 8;
}

/* Where this thread's first fragment of pixels lies. */
static __device__ __forceinline__ int slot_of_pixels()
{
    const int quad = threadIdx.x % 8, row = threadIdx.x / 8, turn = quad / 4;
    return turn * TURN + row / 8 * OF_ROWS16 + ((row % 8 * 4 + quad % 4) * 4 ^ turn * TURNED);
}

template <int APART, int PIXELS> static __device__ __forceinline__ void put(float *to, const float4 (&value)[PIXELS])
{
    UNROLL
    for (int i = 0; i < PIXELS / 2; i++) {
        const float4 a = value[2 * i], b = value[2 * i + 1];
        unsigned pieces[4][PIECES];
        cut(a.x, a.y, pieces[0]);
        cut(b.x, b.y, pieces[1]);
        cut(a.z, a.w, pieces[2]);
        cut(b.z, b.w, pieces[3]);
        UNROLL
        for (int j = 0; j < PIECES; j++)
            store4(to + i * (APART / 8) * OF_ROWS16 + j * FRAGMENT,
                   make_float4(__uint_as_float(pieces[0][j]), __uint_as_float(pieces[1][j]), __uint_as_float(pieces[2][j]),
                               __uint_as_float(pieces[3][j])));
    }
}

/* What a lane brings of the weights: for 16 k at a time four rows of two channels. Of columns beyond the last channel it is another's. */
struct mma_weights {
    float2 value[K16][4];
    const float *pointer;

    static __device__ __forceinline__ int row()
    {
        return threadIdx.x % 4 * 4;
    }
    __device__ __forceinline__ void begin(const ig_gpu_conv &p, int group, int n0, int first)
    {
        const int n = n0 + threadIdx.x / 4 * 2;
        pointer = p.weights + (group * p.weight_group + (first + row()) * p.oc4 + (n < p.oc4 ? n : 0));
    }
    __device__ __forceinline__ void load(const ig_gpu_conv &p, int i, int left)
    {
        UNROLL
        for (int j = 0; j < 4; j++)
            value[i][j] = i * 16 + row() + j < left ? load2(pointer + (i * 16 + j) * p.oc4) : make_float2(0, 0);
    }
    __device__ __forceinline__ void next(const ig_gpu_conv &p, int left)
    {
        pointer += min(left, (int)MMA_UNIT) * p.oc4;
    }
    /* words[piece][column][which two of four k] */
    __device__ __forceinline__ void fragments(int i, unsigned (&words)[PIECES][COLUMNS8][2]) const
    {
        unsigned pieces[PIECES];
        UNROLL
        for (int j = 0; j < 4; j++) {
            const float2 low = value[i][j / 2 * 2], high = value[i][j / 2 * 2 + 1];
            if (j % 2) cut(low.y, high.y, pieces);
            else cut(low.x, high.x, pieces);
            UNROLL
            for (int k = 0; k < PIECES; k++) words[k][j % 2][j / 2] = pieces[k];
        }
    }
};

/* Adds 16 k of a warp's channels, of the first COUNT times 16 rows. */
template <int COUNT>
static __device__ __forceinline__ void multiply16(const float *room, const unsigned (&w)[PIECES][COLUMNS8][2],
                                                  float (&sum)[ROWS16][COLUMNS8][4])
{
    enum { AT_ONCE = 2 };
    UNROLL
    for (int first = 0; first < COUNT; first += AT_ONCE) {
        float part[AT_ONCE][COLUMNS8][4] = {};
        UNROLL
        for (int j = PIECES - 1; j >= 0; j--) {
            float4 x[AT_ONCE];
            UNROLL
            for (int i = 0; i < AT_ONCE; i++) x[i] = load4(room + (first + i) * OF_ROWS16 + j * FRAGMENT);
            UNROLL
            for (int k = PIECES - 1 - j; k >= 0; k--) mma_bf16(part, x, w[k]);
        }
        UNROLL
        for (int i = 0; i < AT_ONCE * COLUMNS8 * 4; i++) {
            const int row = i / (COLUMNS8 * 4), column = i / 4 % COLUMNS8;
            sum[first + row][column][i % 4] += part[row][column][i % 4];
        }
    }
}

/* Writes what a thread has of a block's sums. */
template <int WARPS>
static __device__ __forceinline__ void put_sums(const ig_gpu_conv &p, float (&sum)[ROWS16][COLUMNS8][4], int group, int split)
{
    enum { APART = WARPS * 4 };
    const int lane = threadIdx.x % 32, count = p.out_h * p.out_w, m0 = blockIdx.x * 64 + lane / 4;
    const int channel = blockIdx.y * (16 * WARPS) + threadIdx.x / 32 * 16 + lane % 4 * 4, n = p.oc - channel;
    if (n <= 0) return;
    const float4 bias = split == 0 ? bias_of(p, group * p.oc + channel, n) : make_float4(0, 0, 0, 0);
    UNROLL
    for (int i = 0; i < ROWS16 * 2; i++) {
        const int m = m0 + pixel_of<APART>(i), first = i % 2 * 2;
        const float(&s)[COLUMNS8][4] = sum[i / 2];
        const float4 total = make_float4(s[0][first] + bias.x, s[1][first] + bias.y, s[0][first + 1] + bias.z, s[1][first + 1] + bias.w);
        if (m >= count) continue;
        if (p.splits > 1) store4(p.partial + (((long long)blockIdx.z * count + m) * p.oc4 + channel), total);
        else finish<LONG_CALLED>(p, m, group * p.oc + channel, total, n);
    }
    if (LONG_CALLED && p.splits <= 1 && is_long(p.act)) {
#pragma unroll 1
        for (int i = 0; i < ROWS16 * 2; i++)
            if (m0 + pixel_of<APART>(i) < count) finish_late(p, m0 + pixel_of<APART>(i), group * p.oc + channel, n);
    }
}

/* A block of 64 pixels x 16 WARPS channels; z as in tile(). */
template <int WARPS, bool ALIGNED> static __device__ __forceinline__ void mma_tile(const ig_gpu_conv &p)
{
    enum { APART = WARPS * 4 };
    SHARED(float, room, [2 * HALF_ROOM]);
    const int group = blockIdx.z / p.splits, split = blockIdx.z - group * p.splits;
    const units of = units_of_piece<MMA_UNIT>(p, flat_image(), split, blockIdx.x * 64, 64);
    /* a warp beyond the last channel only brings pixels; fragments beyond the last pixel are left out by halves */
    const bool mine = (int)(blockIdx.y * (16 * WARPS) + threadIdx.x / 32 * 16) < p.oc;
    const bool is_whole = (int)blockIdx.x * 64 + pixel_of<APART>(ROWS16) < p.out_h * p.out_w;
    int halves = !mine ? 0 : is_whole ? 2 : 1;
    KEPT(halves);
    float sum[ROWS16][COLUMNS8][4] = {};
    quads<64, MMA_UNIT, 32 * WARPS, flat_image, MMA_UNIT, ALIGNED> pixels;
    mma_weights weights;
    int read = threadIdx.x % 32 * 4, written = slot_of_pixels(), turn = HALF_ROOM, steps = 0;
    if (of.first < of.last) {
        steps = pixels.begin(p, flat_image(), group, blockIdx.x * 64, of.first, of.last);
        weights.begin(p, group, blockIdx.y * (16 * WARPS), first_of<MMA_UNIT>(p, of.first));
        UNROLL
        for (int i = 0; i < K16; i++) weights.load(p, i, pixels.left);
        pixels.template load<false>(p, flat_image());
        put<APART>(room + written, pixels.value);
        __syncthreads();
    }
    for (; steps > 0; steps--) {
        const bool more = steps > 1;
        const int left = pixels.left;
        if (more) {
            weights.next(p, left);
            pixels.next(p, flat_image());
        }
        UNROLL
        for (int i = 0; i < K16; i++) {
            unsigned words[PIECES][COLUMNS8][2];
            if (halves) {
                weights.fragments(i, words);
                if (more) weights.load(p, i, pixels.left);
            }
            /* after the first use of weights: the machine code waits for all loads under way, not for some of them */
            if (i == 0 && more) pixels.template load<false>(p, flat_image());
            if (!halves || i * 16 >= left) continue; /* no channels, or all zeros */
            const float *fragments = room + (read ^ i * TURNED) + i * TURN;
            if (halves == 2) multiply16<ROWS16>(fragments, words, sum);
            else multiply16<ROWS16 / 2>(fragments, words, sum);
        }
        read += turn;
        written += turn;
        turn = -turn;
        if (more) {
            put<APART>(room + written, pixels.value);
            __syncthreads();
        }
    }
    int splits = p.splits; /* where it writes is found anew: the loop has no registers for it */
    KEPT(splits);
    put_sums<WARPS>(p, sum, blockIdx.z / splits, blockIdx.z % splits);
}

/* FLOATS: what brings pixels to multiply-adds, where there are no tensor cores. */
template <int WARPS, bool ALIGNED, typename FLOATS> static __device__ __forceinline__ void mma_or_floats(const ig_gpu_conv &p)
{
    if (HAS_MMA_BF16) mma_tile<WARPS, ALIGNED>(p);
    else tile<64, 16 * WARPS, 16, 8, 4, LONG_CALLED, FLOATS>(p, flat_image(), blockIdx.z);
}

GPU_KERNEL(128, 4, conv_mma64x64, ig_gpu_conv)
{
    mma_or_floats<4, true, quads<64, 16, 128, flat_image, MMA_UNIT> >(p);
}

GPU_KERNEL(128, 4, conv_mma_any64x64, ig_gpu_conv)
{
    mma_or_floats<4, false, singles<64, 16, 128, flat_image, MMA_UNIT> >(p);
}

GPU_KERNEL(256, 2, conv_mma64x128, ig_gpu_conv)
{
    mma_or_floats<8, true, quads<64, 16, 256, flat_image, MMA_UNIT> >(p);
}

GPU_KERNEL(256, 2, conv_mma_any64x128, ig_gpu_conv)
{
    mma_or_floats<8, false, singles<64, 16, 256, flat_image, MMA_UNIT> >(p);
}
