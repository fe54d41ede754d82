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
#include "kernels_gpu/cuda/phase.cuh"

enum { NOWHERE = -(1 << 14) }; /* a row that no tap brings into an image */

/* Where the taps of an output pixel count from, in units of the input: row and column in 16 bits each; depth of a volume. */
struct origin {
    int z, yx;
};

static __device__ __forceinline__ int row_of(int yx)
{
    return yx >> 16;
}

static __device__ __forceinline__ int column_of(int yx)
{
    return (int)((unsigned)yx << 16) >> 16;
}

static __device__ __forceinline__ int packed(int y, int x)
{
    return (int)((unsigned)y << 16 | ((unsigned)x & 0xffff));
}

struct flat_image { /* what is no volume */
};

static __device__ __forceinline__ origin origin_of(const ig_gpu_conv &p, const flat_image &, int m)
{
    const int y = m / p.out_w, x = m - y * p.out_w;
    const origin at = {0, y >= p.out_h ? NOWHERE * 65536 : packed(y * p.sh - p.top, x * p.sw - p.left)};
    return at;
}

static __device__ __forceinline__ origin origin_of(const ig_gpu_conv &p, const ig_gpu_depth &d, int m)
{
    const int row = m / p.out_w, x = m - row * p.out_w, z = row / d.out_rows, y = row - z * d.out_rows;
    const origin at = {row >= p.out_h ? NOWHERE : z * d.stride - d.front, packed(y * p.sh - p.top, x * p.sw - p.left)};
    return at;
}

/* Where tap (ky, kx) reads a group's first channel; NULL beyond the edge. */
static __device__ __forceinline__ const float *tap_of(const ig_gpu_conv &p, const flat_image &, int group, origin from, int ky, int kx)
{
    const int y = row_of(from.yx) + ky * p.dh, x = column_of(from.yx) + kx * p.dw;
    if ((unsigned)y >= (unsigned)p.in_h || (unsigned)x >= (unsigned)p.in_w) return 0;
    return p.in + (y * p.in_row + x * p.in_pixel + group * p.ic);
}

static __device__ __forceinline__ const float *tap_of(const ig_gpu_conv &p, const ig_gpu_depth &d, int group, origin from, int row,
                                                      int kx)
{
    const int kz = row / d.tap_rows, ky = row - kz * d.tap_rows;
    const int z = from.z + kz * d.dilation, y = row_of(from.yx) + ky * p.dh, x = column_of(from.yx) + kx * p.dw;
    if ((unsigned)z >= (unsigned)d.in || (unsigned)y >= (unsigned)d.in_rows || (unsigned)x >= (unsigned)p.in_w) return 0;
    return p.in + ((z * d.in_rows + y) * p.in_row + x * p.in_pixel + group * p.ic);
}

/* Position of one k of the sum: tap (ky, kx), channel c. */
struct place {
    int ky, kx, c;
};

static __device__ __forceinline__ place place_of(const ig_gpu_conv &p, int k)
{
    int tap = k / p.ic;
    place at = {tap / p.kw, tap % p.kw, k - tap * p.ic};
    return at;
}

/* `step` further along the sum. */
static __device__ __forceinline__ void advance(const ig_gpu_conv &p, place &at, int step)
{
    at.c += step;
    while (at.c >= p.ic) {
        at.c -= p.ic;
        if (++at.kx == p.kw) at.kx = 0, at.ky++;
    }
}

/* Pieces of the sum are units of 16 channels of a tap (its last may be shorter): the same whatever the tile and however pixels are loaded. */
enum { UNIT = 16 };

static __device__ __forceinline__ int units_of(const ig_gpu_conv &p)
{
    return p.kh * p.kw * ((p.ic + UNIT - 1) / UNIT);
}

/* The k that a unit begins with. */
static __device__ __forceinline__ int first_of(const ig_gpu_conv &p, int unit)
{
    const int per_tap = (p.ic + UNIT - 1) / UNIT, tap = unit / per_tap;
    return tap * p.ic + (unit - tap * per_tap) * UNIT;
}

/*
 * Row k of a step has its pixels at m ^ turned(k) in shared memory: the lanes of a warp store quads of several k, whose rows would
 * all begin at the same bank.
 */
template <int BK> static __device__ __forceinline__ int turned(int k)
{
    return k / 4 * (128 / BK);
}

/*
 * What a thread brings of the pixels: four channels at once, for which a tap's channels are whole quads. All threads of a block
 * are at the same tap and channel: a tap begins a step.
 */
template <int BM, int BK, int T, typename WHERE = flat_image> struct quads {
    enum { PER_PIXEL = BK / 4, PIXELS = BM * PER_PIXEL / T, STRIDE = T / PER_PIXEL };
    origin from[PIXELS];
    const float *pointer[PIXELS]; /* to this thread's quad of the step */
    float4 value[PIXELS];
    int ky, kx, group;
    int left; /* channels from the step's first to the tap's last */

    static __device__ __forceinline__ int quad()
    {
        return threadIdx.x % PER_PIXEL * 4;
    }
    __device__ __forceinline__ void point(const ig_gpu_conv &p, const WHERE &where, int c)
    {
        UNROLL
        for (int i = 0; i < PIXELS; i++) {
            const float *tap = tap_of(p, where, group, from[i], ky, kx);
            pointer[i] = (tap ? tap : p.zeros) + (c + quad());
        }
    }
    /* At a unit of the sum; steps to another one, each of one tap. */
    __device__ __forceinline__ int begin(const ig_gpu_conv &p, const WHERE &where, int of, int m0, int first, int last)
    {
        const int k = first_of(p, first), end = first_of(p, last), tap = k / p.ic, end_tap = end / p.ic, c = k - tap * p.ic;
        group = of, left = p.ic - c;
        ky = tap / p.kw, kx = tap - ky * p.kw;
        UNROLL
        for (int i = 0; i < PIXELS; i++) from[i] = origin_of(p, where, m0 + (int)threadIdx.x / PER_PIXEL + i * STRIDE);
        point(p, where, c);
        return (end_tap - tap) * ((p.ic + BK - 1) / BK) + (end - end_tap * p.ic - c) / (int)BK;
    }
    /* FULL: a tap has channels for all of the step. */
    template <bool FULL> __device__ __forceinline__ void load(const ig_gpu_conv &, const WHERE &)
    {
        const bool inside = FULL || quad() < left;
        UNROLL
        for (int i = 0; i < PIXELS; i++) value[i] = inside ? load4(pointer[i]) : make_float4(0, 0, 0, 0);
    }
    __device__ __forceinline__ void next(const ig_gpu_conv &p, const WHERE &where)
    {
        left -= BK;
        if (left > 0) {
            UNROLL
            for (int i = 0; i < PIXELS; i++) pointer[i] += BK;
            return;
        }
        left = p.ic;
        if (++kx == p.kw) kx = 0, ky++;
        point(p, where, 0);
    }
    /* Where this thread's first pixel lies in rows of ROW. */
    template <int ROW> static __device__ __forceinline__ int slot()
    {
        return quad() * ROW + ((int)threadIdx.x / PER_PIXEL ^ turned<BK>(quad()));
    }
    template <int ROW> __device__ __forceinline__ void store(float *to, int slot) const
    {
        UNROLL
        for (int i = 0; i < PIXELS; i++) {
            float *row = to + (STRIDE % 32 ? slot ^ i * STRIDE : slot + i * STRIDE);
            row[0] = value[i].x;
            row[ROW] = value[i].y;
            row[2 * ROW] = value[i].z;
            row[3 * ROW] = value[i].w;
        }
    }
};

/* The same one k of the sum at a time, for any number of channels and any alignment: steps go on from tap to tap. */
template <int BM, int BK, int T, typename WHERE = flat_image> struct singles {
    enum { PIXELS = BM * BK / T, STRIDE = T / BK };
    origin from[PIXELS];
    float value[PIXELS];
    place at;
    int group, left;

    __device__ __forceinline__ int begin(const ig_gpu_conv &p, const WHERE &where, int of, int m0, int first, int last)
    {
        const int k = first_of(p, first);
        group = of, left = first_of(p, last) - k;
        UNROLL
        for (int i = 0; i < PIXELS; i++) from[i] = origin_of(p, where, m0 + (int)threadIdx.x / BK + i * STRIDE);
        at = place_of(p, k + threadIdx.x % BK);
        return (left + BK - 1) / BK;
    }
    template <bool FULL> __device__ __forceinline__ void load(const ig_gpu_conv &p, const WHERE &where)
    {
        const bool inside = FULL || (int)threadIdx.x % BK < left;
        UNROLL
        for (int i = 0; i < PIXELS; i++) {
            const float *tap = inside ? tap_of(p, where, group, from[i], at.ky, at.kx) : 0;
            value[i] = tap ? tap[at.c] : 0;
        }
    }
    __device__ __forceinline__ void next(const ig_gpu_conv &p, const WHERE &)
    {
        left -= BK;
        advance(p, at, BK);
    }
    template <int ROW> static __device__ __forceinline__ int slot()
    {
        return (int)threadIdx.x % BK * ROW;
    }
    template <int ROW> __device__ __forceinline__ void store(float *to, int slot) const
    {
        const int turn = turned<BK>((int)threadIdx.x % BK);
        UNROLL
        for (int i = 0; i < PIXELS; i++) to[slot + (((int)threadIdx.x / BK + i * STRIDE) ^ turn)] = value[i];
    }
};

/* What a thread brings of the weights. Of columns beyond the last channel, whose sums nobody reads, it is another's. */
template <int BN, int BK, int T> struct panel {
    enum { STEP = BK, PER_ROW = BN / 4, ROWS = BK * PER_ROW / T, STRIDE = T / PER_ROW };
    float4 value[ROWS];
    const float *pointer; /* to this thread's quad of its first row of the step */

    __device__ __forceinline__ void begin(const ig_gpu_conv &p, int group, int n0, int first)
    {
        const int n = n0 + (threadIdx.x % PER_ROW) * 4, row = first + threadIdx.x / PER_ROW;
        pointer = p.weights + (group * p.weight_group + row * p.oc4 + (n < p.oc4 ? n : 0));
    }
    template <bool FULL> __device__ __forceinline__ void load(const ig_gpu_conv &p, int left)
    {
        UNROLL
        for (int i = 0; i < ROWS; i++) {
            const bool inside = FULL || (int)threadIdx.x / PER_ROW + i * STRIDE < left;
            value[i] = inside ? load4(pointer + i * STRIDE * p.oc4) : make_float4(0, 0, 0, 0);
        }
    }
    __device__ __forceinline__ void next(const ig_gpu_conv &p, int left)
    {
        pointer += min(left, (int)BK) * p.oc4;
    }
    static __device__ __forceinline__ int slot()
    {
        return (int)threadIdx.x / PER_ROW * BN + (int)threadIdx.x % PER_ROW * 4;
    }
    __device__ __forceinline__ void store(float *to) const
    {
        UNROLL
        for (int i = 0; i < ROWS; i++) store4(to + i * STRIDE * BN, value[i]);
    }
};

/* n <= 4 channels of one pixel: what follows the sum; LATE: but for long activations. */
template <bool LATE> static __device__ __forceinline__ void finish(const ig_gpu_conv &p, int m, int channel, float4 sum, int n)
{
    int y = m / p.out_w, x = m - y * p.out_w;
    float *out = p.out + (y * p.out_row + x * p.out_pixel + channel);
    const float *residual = p.residual ? p.residual + (y * p.residual_row + x * p.residual_pixel + channel) : 0;
    if (residual && p.vector_out) {
        float4 r = load4(residual);
        sum = make_float4(sum.x + r.x, sum.y + r.y, sum.z + r.z, sum.w + r.w);
    } else if (residual) {
        UNROLL
        for (int j = 0; j < 4; j++)
            if (j < n) at(sum, j) += residual[j];
    }
    sum = LATE ? activate_short(p.act, sum) : activate(p.act, sum);
    if (p.vector_out) store4(out, sum);
    else store_upto4<false>(out, sum, n);
}

/* What finish<true> left out. */
static __device__ __forceinline__ void finish_late(const ig_gpu_conv &p, int m, int channel, int n)
{
    int y = m / p.out_w, x = m - y * p.out_w;
    float *out = p.out + (y * p.out_row + x * p.out_pixel + channel);
    for (int j = 0; j < 4 && j < n; j++) out[j] = activate_long(p.act.kind, p.act.alpha, out[j]);
}

static __device__ __forceinline__ float4 bias_of(const ig_gpu_conv &p, int channel, int n)
{
    if (!p.bias) return make_float4(0, 0, 0, 0);
    return load_upto4<false>(p.bias + channel, n);
}

/* A step of both from memory. */
template <typename PIXELS, typename WEIGHTS, typename WHERE>
static __device__ __forceinline__ void bring(const ig_gpu_conv &p, const WHERE &where, PIXELS &pixels, WEIGHTS &weights)
{
    if (pixels.left >= WEIGHTS::STEP) {
        pixels.template load<true>(p, where);
        weights.template load<true>(p, pixels.left);
    } else {
        pixels.template load<false>(p, where);
        weights.template load<false>(p, pixels.left);
    }
}

/*
 * The n-th of N factors that a line of a thread's tile is multiplied with: in order or the even ones first, and back in the next
 * line. Neighbours share a factor, which the multiplier still holds, and the sum and the other factor more often lie in different
 * banks of registers: operands of one bank hold a warp back. Which of the orders ptxas finds such registers for was tried.
 */
template <int N, bool EVEN_FIRST> static __device__ __forceinline__ int to_and_fro(int line, int n)
{
    const int j = EVEN_FIRST ? n * 2 % N + n * 2 / N : n;
    return line % 2 ? N - 1 - j : j;
}

/*
 * x in another register: `nothing` is 0, which the compiler does not know. What is stored by fours has to lie in four registers
 * in a row; would these be the sums' own, their banks were settled by that.
 */
static __device__ __forceinline__ float moved(float x, unsigned nothing)
{
    return __uint_as_float(__float_as_uint(x) ^ nothing);
}

/*
 * z: which group and piece of the sum. LATE: long activations are a pass of their own over what was stored, by one piece of code. In the epilogue they would be
 * one for each output, and what they call takes registers from the sums.
 */
template <int BM, int BN, int BK, int TM, int TN, bool LATE, typename PIXELS, typename WHERE>
static __device__ __forceinline__ void tile(const ig_gpu_conv &p, const WHERE &where, unsigned z)
{
    enum { T = BM / TM * (BN / TN), QM = TM / 4, QN = TN / 4, ACROSS = BN / TN / 4, HALF_A = BK * BM, HALF_B = BK * BN };
    enum { COLUMNS = TM == 8 && TN >= 8, EVEN_FIRST = TM + TN != 16 || T == 256 }; /* lines of products */
    SHARED(float, a, [2 * HALF_A]);
    SHARED(float, b, [2 * HALF_B]);
    const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    /* lanes that differ in bit 0 alone read the same of a, those that differ in bit 1 the same of b: halves of a warp are one access */
    const int tm = (warp / ACROSS * 8 + lane / 2 % 8) * 4, tn = (warp % ACROSS * 4 + (lane & 1) + lane / 16 * 2) * 4;
    const int group = z / p.splits, split = z - group * p.splits;
    const int m0 = blockIdx.x * BM, n0 = blockIdx.y * BN;
    const int first = split * p.chunk, last = min(units_of(p), first + p.chunk);
    float4 sum[TM][QN];
    UNROLL
    for (int j = 0; j < QN; j++) {
        int channel = n0 + j * (BN / QN) + tn, n = p.oc - channel;
        float4 from = split == 0 && n > 0 ? bias_of(p, group * p.oc + channel, n) : make_float4(0, 0, 0, 0);
        UNROLL
        for (int i = 0; i < TM; i++) sum[i][j] = from;
    }
    PIXELS pixels;
    panel<BN, BK, T> weights;
    int to_a = PIXELS::template slot<BM>(), to_b = panel<BN, BK, T>::slot(), steps = 0;
    if (first < last) {
        steps = pixels.begin(p, where, group, m0, first, last);
        weights.begin(p, group, n0, first_of(p, first));
        bring(p, where, pixels, weights);
        pixels.template store<BM>(a, to_a);
        weights.store(b + to_b);
        __syncthreads();
    }
    int from_a = tm, from_b = tn;
    for (; steps > 0; steps--) {
        to_a ^= HALF_A, to_b ^= HALF_B; /* the other half: both are powers of two */
        const bool more = steps > 1;
        if (more) {
            weights.next(p, pixels.left);
            pixels.next(p, where);
            bring(p, where, pixels, weights);
        }
        UNROLL
        for (int k = 0; k < BK; k++) {
            float4 x[QM], w[QN];
            UNROLL
            for (int i = 0; i < QM; i++) x[i] = load4(&a[(from_a ^ turned<BK>(k)) + k * BM + i * (BM / QM)]);
            UNROLL
            for (int j = 0; j < QN; j++) w[j] = load4(&b[from_b + k * BN + j * (BN / QN)]);
            UNROLL
            for (int n = 0; n < TM * TN; n++) {
                const int i = COLUMNS ? to_and_fro<TM, EVEN_FIRST>(n / TM, n % TM) : n / TN;
                const int j = COLUMNS ? n / TM : to_and_fro<TN, EVEN_FIRST>(n / TN, n % TN);
                at(sum[i][j / 4], j % 4) = fmaf(at(x[i / 4], i % 4), at(w[j / 4], j % 4), at(sum[i][j / 4], j % 4));
            }
        }
        from_a ^= HALF_A, from_b ^= HALF_B;
        KEPT(to_a);
        KEPT(to_b);
        KEPT(from_a);
        KEPT(from_b);
        if (more) {
            pixels.template store<BM>(a, to_a);
            weights.store(b + to_b);
            __syncthreads();
        }
    }
    const int count = p.out_h * p.out_w;
    const unsigned nothing = (unsigned)p.splits >> 31;
    UNROLL
    for (int i = 0; i < TM * TN; i++) at(sum[i / TN][i % TN / 4], i % 4) = moved(at(sum[i / TN][i % TN / 4], i % 4), nothing);
    UNROLL
    for (int i = 0; i < TM; i++) {
        int m = m0 + i / 4 * (BM / QM) + tm + i % 4;
        if (m >= count) continue;
        UNROLL
        for (int j = 0; j < QN; j++) {
            int channel = n0 + j * (BN / QN) + tn;
            if (channel >= p.oc) continue;
            if (p.splits > 1) store4(p.partial + (((long long)z * count + m) * p.oc4 + channel), sum[i][j]);
            else finish<LATE>(p, m, group * p.oc + channel, sum[i][j], p.oc - channel);
        }
    }
    if (LATE && p.splits <= 1 && is_long(p.act)) {
#pragma unroll 1
        for (int i = 0; i < TM * QN; i++) {
            int m = m0 + i / QN / 4 * (BM / QM) + tm + i / QN % 4, channel = n0 + i % QN * (BN / QN) + tn;
            if (m < count && channel < p.oc) finish_late(p, m, group * p.oc + channel, p.oc - channel);
        }
    }
}

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

/* Its tile of a phase's group, where the phase has so many outputs; all.splits is 1. */
template <int TILE, int TM, int TN, typename PIXELS> static __device__ __forceinline__ void phase_tile(const ig_gpu_deconv &d)
{
    const int i = blockIdx.z / d.all.groups;
    const ig_gpu_conv p = conv_of_phase(d, i);
    if ((int)blockIdx.x * TILE < p.out_h * p.out_w)
        tile<TILE, TILE, 16, TM, TN, LONG_CALLED, PIXELS>(p, flat_image(), blockIdx.z - i * d.all.groups);
}

GPU_KERNEL(128, 3, deconv_64x64, ig_gpu_deconv)
{
    phase_tile<64, 8, 4, quads<64, 16, 128> >(p);
}

GPU_KERNEL(64, 8, deconv_32x32, ig_gpu_deconv)
{
    phase_tile<32, 4, 4, quads<32, 16, 64> >(p);
}

GPU_KERNEL(64, 8, deconv_any32x32, ig_gpu_deconv)
{
    phase_tile<32, 4, 4, singles<32, 16, 64> >(p);
}

/* The pieces of split sums: a thread adds those of four channels of a pixel, in their order. */
GPU_KERNEL(128, 8, conv_reduce, ig_gpu_conv)
{
    const int quads_of = p.oc4 / 4, count = p.out_h * p.out_w;
    const int i = blockIdx.x * 128 + threadIdx.x, m = i / quads_of, channel = (i - m * quads_of) * 4;
    if (m >= count) return;
    float4 sum = make_float4(0, 0, 0, 0);
    for (int s = 0; s < p.splits; s++) {
        float4 v = load4(p.partial + ((((long long)blockIdx.y * p.splits + s) * count + m) * p.oc4 + channel));
        sum = make_float4(sum.x + v.x, sum.y + v.y, sum.z + v.z, sum.w + v.w);
    }
    if (channel < p.oc) finish<false>(p, m, blockIdx.y * p.oc + channel, sum, p.oc - channel);
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
