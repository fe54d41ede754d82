/* What convolutions as a matrix product share: how a sum is gone through, what a thread brings and puts, a block of multiply-adds. */
#ifndef KERNELS_GPU_CUDA_CONV_CUH
#define KERNELS_GPU_CUDA_CONV_CUH

#include "kernels_gpu/cuda/phase.cuh"

enum { NOWHERE = -(1 << 14) }; /* a row that no tap brings into an image */

/*
 * Of rows of 64 bytes, 16 apart from one to the next, a thread brings 16 of one: which. Eight lanes have rows n and n + 4, which go
 * to 32 banks (n and n + 1 share four).
 */
static __device__ __forceinline__ int row_of_piece()
{
    const int row = (int)threadIdx.x / 4;
    return (row & ~7) | (row & 1) << 2 | (row >> 1 & 3);
}

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

template <typename P> static __device__ __forceinline__ origin origin_of(const P &p, const flat_image &, int m)
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

/* Where tap (ky, kx) reads a group's first channel, of floats, halves or bytes; NULL beyond the edge. */
template <typename E, typename P>
static __device__ __forceinline__ const E *tap_of(const P &p, const flat_image &, int group, origin from, int ky, int kx)
{
    const int y = row_of(from.yx) + ky * p.dh, x = column_of(from.yx) + kx * p.dw;
    if ((unsigned)y >= (unsigned)p.in_h || (unsigned)x >= (unsigned)p.in_w) return 0;
    return (const E *)p.in + (y * p.in_row + x * p.in_pixel + group * p.ic);
}

template <typename E>
static __device__ __forceinline__ const E *tap_of(const ig_gpu_conv &p, const ig_gpu_depth &d, int group, origin from, int row, int kx)
{
    const int kz = row / d.tap_rows, ky = row - kz * d.tap_rows;
    const int z = from.z + kz * d.dilation, y = row_of(from.yx) + ky * p.dh, x = column_of(from.yx) + kx * p.dw;
    if ((unsigned)z >= (unsigned)d.in || (unsigned)y >= (unsigned)d.in_rows || (unsigned)x >= (unsigned)p.in_w) return 0;
    return (const E *)p.in + ((z * d.in_rows + y) * p.in_row + x * p.in_pixel + group * p.ic);
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

/*
 * Pieces of the sum are units of so many channels of a tap (its last may be shorter): the same whatever the tile and however pixels are
 * loaded, but on tensor cores.
 */
enum { UNIT = 16, MMA_UNIT = 32 };

template <int CHANNELS> static __device__ __forceinline__ int units_of(const ig_gpu_conv &p)
{
    return p.kh * p.kw * ((p.ic + CHANNELS - 1) / CHANNELS);
}

struct units {
    int first, last;
};

/*
 * Of a piece of the sum, without the rows of taps that are beyond the image for all of a tile's n pixels from m0 on, as of a dilated window
 * many are.
 */
template <int CHANNELS> static __device__ __forceinline__ units units_of_piece(const ig_gpu_conv &p, const flat_image &, int piece, int m0, int n)
{
    units u = {piece * p.chunk, min(units_of<CHANNELS>(p), (piece + 1) * p.chunk)};
    if (p.dh <= 1) return u;
    const int of_row = p.kw * ((p.ic + CHANNELS - 1) / CHANNELS); /* units of a row of taps */
    /* what the tile's first and last rows count from */
    const int top = m0 / p.out_w * p.sh - p.top, bottom = min((m0 + n - 1) / p.out_w, p.out_h - 1) * p.sh - p.top;
    u.first = max(u.first, max((p.dh - 1 - bottom) / p.dh, 0) * of_row);
    u.last = min(u.last, max((p.in_h - top + p.dh - 1) / p.dh, 0) * of_row);
    return u;
}

template <int CHANNELS> static __device__ __forceinline__ units units_of_piece(const ig_gpu_conv &p, const ig_gpu_depth &, int piece, int, int)
{
    const units u = {piece * p.chunk, min(units_of<CHANNELS>(p), (piece + 1) * p.chunk)};
    return u;
}

/* The k that a unit begins with. */
template <int CHANNELS> static __device__ __forceinline__ int first_of(const ig_gpu_conv &p, int unit)
{
    const int per_tap = (p.ic + CHANNELS - 1) / CHANNELS, tap = unit / per_tap;
    return tap * p.ic + (unit - tap * per_tap) * CHANNELS;
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
 * What a thread brings of the pixels: four channels at once, for which, if ALIGNED, a tap's channels are whole quads. All threads of a
 * block are at the same tap and channel: a tap begins a step.
 */
template <int BM, int BK, int T, typename WHERE = flat_image, int CHANNELS = UNIT, bool ALIGNED = true, typename E = float> struct quads {
    enum { UNIT_OF = CHANNELS, PER_PIXEL = BK / 4, PIXELS = BM * PER_PIXEL / T, STRIDE = T / PER_PIXEL };
    origin from[PIXELS];
    const E *pointer[PIXELS]; /* to this thread's quad of the step */
    typename stored4<E>::type value[PIXELS];
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
            const E *tap = tap_of<E>(p, where, group, from[i], ky, kx);
            pointer[i] = (tap ? tap : (const E *)p.zeros) + (c + quad());
        }
    }
    /* At a unit of the sum; steps to another one, each of one tap. */
    __device__ __forceinline__ int begin(const ig_gpu_conv &p, const WHERE &where, int of, int m0, int first, int last)
    {
        const int k = first_of<CHANNELS>(p, first), end = first_of<CHANNELS>(p, last), tap = k / p.ic, end_tap = end / p.ic, c = k - tap * p.ic;
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
        for (int i = 0; i < PIXELS; i++) value[i] = inside ? load_stored<ALIGNED>(pointer[i], left - quad()) : stored4<E>::zero();
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
            const float4 v = widened(value[i]);
            row[0] = v.x;
            row[ROW] = v.y;
            row[2 * ROW] = v.z;
            row[3 * ROW] = v.w;
        }
    }
};

/* The same one k of the sum at a time, for any number of channels and any alignment: steps go on from tap to tap. */
template <int BM, int BK, int T, typename WHERE = flat_image, int CHANNELS = UNIT, typename E = float> struct singles {
    enum { UNIT_OF = CHANNELS, PIXELS = BM * BK / T, STRIDE = T / BK };
    origin from[PIXELS];
    float value[PIXELS];
    place at;
    int group, left;

    __device__ __forceinline__ int begin(const ig_gpu_conv &p, const WHERE &where, int of, int m0, int first, int last)
    {
        const int k = first_of<CHANNELS>(p, first);
        group = of, left = first_of<CHANNELS>(p, last) - k;
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
            const E *tap = inside ? tap_of<E>(p, where, group, from[i], at.ky, at.kx) : 0;
            value[i] = tap ? widened(tap[at.c]) : 0;
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
template <int BN, int BK, int T, typename E = float> struct panel {
    enum { STEP = BK, PER_ROW = BN / 4, ROWS = BK * PER_ROW / T, STRIDE = T / PER_ROW };
    typename stored4<E>::type value[ROWS];
    const E *pointer; /* to this thread's quad of its first row of the step */

    __device__ __forceinline__ void begin(const ig_gpu_conv &p, int group, int n0, int first)
    {
        const int n = n0 + (threadIdx.x % PER_ROW) * 4, row = first + threadIdx.x / PER_ROW;
        pointer = (const E *)p.weights + (group * p.weight_group + row * p.oc4 + (n < p.oc4 ? n : 0));
    }
    template <bool FULL> __device__ __forceinline__ void load(const ig_gpu_conv &p, int left)
    {
        UNROLL
        for (int i = 0; i < ROWS; i++) {
            const bool inside = FULL || (int)threadIdx.x / PER_ROW + i * STRIDE < left;
            value[i] = inside ? load_stored<true>(pointer + i * STRIDE * p.oc4, 4) : stored4<E>::zero();
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
        for (int i = 0; i < ROWS; i++) store4(to + i * STRIDE * BN, widened(value[i]));
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

/* Of a convolution whose weights are floats or halves, as its bias is. */
template <typename W = float> static __device__ __forceinline__ float4 bias_of(const ig_gpu_conv &p, int channel, int n)
{
    if (!p.bias) return make_float4(0, 0, 0, 0);
    return load_upto4<false>((const W *)p.bias + channel, n);
}

/* Of a kernel on halves, n <= 4 channels of one pixel: the sum with the residual; where it goes. */
static __device__ __forceinline__ float4 with_residual(const ig_gpu_conv &p, int m, int channel, float4 sum, int n)
{
    const int y = m / p.out_w, x = m - y * p.out_w, at = y * p.residual_row + x * p.residual_pixel + channel;
    return p.residual ? sum_of(sum, load_either(p.residual, at, p.halves & IG_GPU_RESIDUAL_HALVES, p.vector_out, n)) : sum;
}

static __device__ __forceinline__ void put_either(const ig_gpu_conv &p, int m, int channel, float4 sum, int n)
{
    const int y = m / p.out_w, x = m - y * p.out_w, at = y * p.out_row + x * p.out_pixel + channel;
    store_either(p.out, at, p.halves & IG_GPU_OUT_HALVES, p.vector_out, activate(p.act, sum), n);
}

/* Of either: W is what weights are stored as. */
template <bool LATE, typename W> static __device__ __forceinline__ void finish_as(const ig_gpu_conv &p, int m, int channel, float4 sum, int n)
{
    if (sizeof(W) == sizeof(float)) finish<LATE>(p, m, channel, sum, n);
    else put_either(p, m, channel, with_residual(p, m, channel, sum, n), n);
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
 * z: which group and piece of the sum. W: what weights are stored as; halves are never LATE. LATE: long activations are a pass of their own over what was stored, by one piece of code. In the epilogue they would be
 * one for each output, and what they call takes registers from the sums.
 */
template <int BM, int BN, int BK, int TM, int TN, bool LATE, typename PIXELS, typename W = float, typename WHERE>
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
    const units of = units_of_piece<PIXELS::UNIT_OF>(p, where, split, m0, BM);
    float4 sum[TM][QN];
    UNROLL
    for (int j = 0; j < QN; j++) {
        int channel = n0 + j * (BN / QN) + tn, n = p.oc - channel;
        float4 from = split == 0 && n > 0 ? bias_of<W>(p, group * p.oc + channel, n) : make_float4(0, 0, 0, 0);
        UNROLL
        for (int i = 0; i < TM; i++) sum[i][j] = from;
    }
    PIXELS pixels;
    panel<BN, BK, T, W> weights;
    int to_a = PIXELS::template slot<BM>(), to_b = panel<BN, BK, T, W>::slot(), steps = 0;
    if (of.first < of.last) {
        steps = pixels.begin(p, where, group, m0, of.first, of.last);
        weights.begin(p, group, n0, first_of<PIXELS::UNIT_OF>(p, of.first));
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
        UNROLL_STEPS
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
            else finish_as<LATE, W>(p, m, group * p.oc + channel, sum[i][j], p.oc - channel);
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

/* Its tile of a phase's group of a transposed convolution, where the phase has so many outputs; all.splits is 1. */
template <int TILE, int TM, int TN, bool LATE, typename PIXELS, typename W = float>
static __device__ __forceinline__ void phase_tile(const ig_gpu_deconv &d)
{
    const int i = blockIdx.z / d.all.groups;
    const ig_gpu_conv p = conv_of_phase<W>(d, i);
    if ((int)blockIdx.x * TILE < p.out_h * p.out_w)
        tile<TILE, TILE, 16, TM, TN, LATE, PIXELS, W>(p, flat_image(), blockIdx.z - i * d.all.groups);
}

/* The pieces of split sums: a thread adds those of four channels of a pixel, in their order. W: what weights are stored as. */
template <typename W> static __device__ __forceinline__ void reduce(const ig_gpu_conv &p)
{
    const int quads_of = p.oc4 / 4, count = p.out_h * p.out_w;
    const int i = blockIdx.x * 128 + threadIdx.x, m = i / quads_of, channel = (i - m * quads_of) * 4;
    if (m >= count) return;
    float4 sum = make_float4(0, 0, 0, 0);
    for (int s = 0; s < p.splits; s++) {
        float4 v = load4(p.partial + ((((long long)blockIdx.y * p.splits + s) * count + m) * p.oc4 + channel));
        sum = make_float4(sum.x + v.x, sum.y + v.y, sum.z + v.z, sum.w + v.w);
    }
    if (channel < p.oc) finish_as<false, W>(p, m, blockIdx.y * p.oc + channel, sum, p.oc - channel);
}

#endif
