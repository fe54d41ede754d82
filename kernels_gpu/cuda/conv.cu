/*
 * Convolution as a matrix product that is never written down (implicit GEMM):
 *   out[pixel][oc] = act(bias[oc] + sum over tap, ic of in[pixel's tap][ic] weights[tap][ic][oc] + residual[pixel][oc])
 *
 * A block computes BM pixels x BN channels, a thread TM x TN of them in registers, in quads that lie a grid of threads
 * apart so that shared memory is read 16 bytes at a time without conflicts. Taps and input channels are one axis of
 * length K = taps * ic, gone through BK at a time: while a step of it is multiplied from one half of shared memory, the
 * next comes from memory into registers and then goes to the other half, so that a step has one barrier. A thread
 * brings the same quad of every step for a few pixels and keeps pointers to them, which change only where its quad
 * passes to another tap; a tap beyond the edge points to zeros. Every output is one chain of fused multiply-adds in the
 * order of K, whatever the tile: variants give the same bits.
 *
 * A small output has too few tiles for the chip: K is then cut into pieces (`splits`), each block adds up one, and
 * conv_reduce adds the pieces in their order.
 *
 * A volume's rows lie one depth behind the other, as do the rows of its taps: only where a tap of a pixel is differs.
 */
#include "kernels_gpu/cuda/cuda.cuh"

enum { NOWHERE = -(1 << 14), BEYOND = 1 << 30 }; /* a row that no tap brings into an image; a k that no sum has */

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

/* `step` further along the sum; true if that is another tap. */
static __device__ __forceinline__ bool advance(const ig_gpu_conv &p, place &at, int step)
{
    bool another = false;
    at.c += step;
    while (at.c >= p.ic) {
        at.c -= p.ic;
        if (++at.kx == p.kw) at.kx = 0, at.ky++;
        another = true;
    }
    return another;
}

/* What a thread brings of the pixels: four k at once, for which a tap's channels are whole quads. */
template <int BM, int BK, int T, typename WHERE = flat_image> struct quads {
    enum { PER_PIXEL = BK / 4, PIXELS = BM * PER_PIXEL / T, STRIDE = T / PER_PIXEL };
    origin from[PIXELS];
    const float *pointer[PIXELS];
    float4 value[PIXELS];
    place at;
    int group;

    __device__ __forceinline__ void point(const ig_gpu_conv &p, const WHERE &where)
    {
#pragma unroll
        for (int i = 0; i < PIXELS; i++) {
            const float *tap = at.ky < p.kh ? tap_of(p, where, group, from[i], at.ky, at.kx) : 0;
            pointer[i] = tap ? tap : p.zeros;
        }
    }
    __device__ __forceinline__ void begin(const ig_gpu_conv &p, const WHERE &where, int of, int m0, int k0)
    {
        group = of;
#pragma unroll
        for (int i = 0; i < PIXELS; i++) from[i] = origin_of(p, where, m0 + (int)threadIdx.x / PER_PIXEL + i * STRIDE);
        at = place_of(p, k0 + (threadIdx.x % PER_PIXEL) * 4);
        point(p, where);
    }
    __device__ __forceinline__ void load()
    {
#pragma unroll
        for (int i = 0; i < PIXELS; i++) value[i] = load4(pointer[i] + at.c);
    }
    __device__ __forceinline__ void next(const ig_gpu_conv &p, const WHERE &where)
    {
        if (advance(p, at, BK)) point(p, where);
    }
    template <int ROW> __device__ __forceinline__ void store(float (*to)[ROW]) const
    {
        int k = (threadIdx.x % PER_PIXEL) * 4;
#pragma unroll
        for (int i = 0; i < PIXELS; i++) {
            int m = threadIdx.x / PER_PIXEL + i * STRIDE;
            to[k][m] = value[i].x;
            to[k + 1][m] = value[i].y;
            to[k + 2][m] = value[i].z;
            to[k + 3][m] = value[i].w;
        }
    }
};

/* The same one k at a time, for any number of channels and any alignment. */
template <int BM, int BK, int T, typename WHERE = flat_image> struct singles {
    enum { PIXELS = BM * BK / T, STRIDE = T / BK };
    origin from[PIXELS];
    float value[PIXELS];
    place at;
    int group;

    __device__ __forceinline__ void begin(const ig_gpu_conv &p, const WHERE &where, int of, int m0, int k0)
    {
        group = of;
#pragma unroll
        for (int i = 0; i < PIXELS; i++) from[i] = origin_of(p, where, m0 + (int)threadIdx.x / BK + i * STRIDE);
        at = place_of(p, k0 + threadIdx.x % BK);
    }
    __device__ __forceinline__ void load_of(const ig_gpu_conv &p, const WHERE &where)
    {
#pragma unroll
        for (int i = 0; i < PIXELS; i++) {
            const float *tap = at.ky < p.kh ? tap_of(p, where, group, from[i], at.ky, at.kx) : 0;
            value[i] = tap ? tap[at.c] : 0;
        }
    }
    __device__ __forceinline__ void next(const ig_gpu_conv &p, const WHERE &)
    {
        advance(p, at, BK);
    }
    template <int ROW> __device__ __forceinline__ void store(float (*to)[ROW]) const
    {
#pragma unroll
        for (int i = 0; i < PIXELS; i++) to[threadIdx.x % BK][threadIdx.x / BK + i * STRIDE] = value[i];
    }
};

template <int BM, int BK, int T, typename WHERE>
static __device__ __forceinline__ void load(quads<BM, BK, T, WHERE> &q, const ig_gpu_conv &, const WHERE &)
{
    q.load();
}

template <int BM, int BK, int T, typename WHERE>
static __device__ __forceinline__ void load(singles<BM, BK, T, WHERE> &s, const ig_gpu_conv &p, const WHERE &where)
{
    s.load_of(p, where);
}

/* What a thread brings of the weights. */
template <int BN, int BK, int T> struct panel {
    enum { PER_ROW = BN / 4, ROWS = BK * PER_ROW / T, STRIDE = T / PER_ROW };
    float4 value[ROWS];
    int offset, k; /* of the weights, k of the first row; columns beyond the last channel are beyond the last k */

    __device__ __forceinline__ void begin(const ig_gpu_conv &p, int group, int n0, int k0)
    {
        int n = n0 + (threadIdx.x % PER_ROW) * 4;
        k = k0 + threadIdx.x / PER_ROW;
        offset = group * p.weight_group + k * p.oc4 + n;
        if (n >= p.oc4) k = BEYOND;
    }
    __device__ __forceinline__ void load(const ig_gpu_conv &p, int length)
    {
#pragma unroll
        for (int i = 0; i < ROWS; i++)
            value[i] = k + i * STRIDE < length ? load4(p.weights + (offset + i * STRIDE * p.oc4)) : make_float4(0, 0, 0, 0);
    }
    __device__ __forceinline__ void next(const ig_gpu_conv &p)
    {
        k += BK;
        offset += BK * p.oc4;
    }
    template <int ROW> __device__ __forceinline__ void store(float (*to)[ROW]) const
    {
#pragma unroll
        for (int i = 0; i < ROWS; i++)
            store4(&to[threadIdx.x / PER_ROW + i * STRIDE][(threadIdx.x % PER_ROW) * 4], value[i]);
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
#pragma unroll
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

/*
 * LATE: long activations are a pass of their own over what was stored, by one piece of code. In the epilogue they would be
 * one for each output, and what they call takes registers from the sums.
 */
template <int BM, int BN, int BK, int TM, int TN, bool LATE, typename PIXELS, typename WHERE>
static __device__ __forceinline__ void tile(const ig_gpu_conv &p, const WHERE &where)
{
    enum { T = BM / TM * (BN / TN), QM = TM / 4, QN = TN / 4, ROW_M = BM + 4, ACROSS = BN / TN / 4 };
    SHARED(float, a, [2][BK][ROW_M]);
    SHARED(float, b, [2][BK][BN]);
    const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    const int tm = (warp / ACROSS * 8 + lane / 4) * 4, tn = (warp % ACROSS * 4 + lane % 4) * 4;
    const int group = blockIdx.z / p.splits, split = blockIdx.z - group * p.splits;
    const int m0 = blockIdx.x * BM, n0 = blockIdx.y * BN, length = p.kh * p.kw * p.ic;
    const int k0 = split * p.chunk, k1 = min(length, k0 + p.chunk);
    float4 sum[TM][QN];
#pragma unroll
    for (int j = 0; j < QN; j++) {
        int channel = n0 + j * (BN / QN) + tn, n = p.oc - channel;
        float4 first = split == 0 && n > 0 ? bias_of(p, group * p.oc + channel, n) : make_float4(0, 0, 0, 0);
#pragma unroll
        for (int i = 0; i < TM; i++) sum[i][j] = first;
    }
    PIXELS pixels;
    panel<BN, BK, T> weights;
    pixels.begin(p, where, group, m0, k0);
    weights.begin(p, group, n0, k0);
    load(pixels, p, where);
    weights.load(p, k1);
    pixels.store(a[0]);
    weights.store(b[0]);
    __syncthreads();
    int half = 0;
    for (int k = k0; k < k1; k += BK, half ^= 1) {
        const bool more = k + BK < k1;
        if (more) {
            pixels.next(p, where);
            weights.next(p);
            load(pixels, p, where);
            weights.load(p, k1);
        }
#pragma unroll
        for (int step = 0; step < BK; step++) {
            float4 x[QM], w[QN];
#pragma unroll
            for (int i = 0; i < QM; i++) x[i] = load4(&a[half][step][i * (BM / QM) + tm]);
#pragma unroll
            for (int j = 0; j < QN; j++) w[j] = load4(&b[half][step][j * (BN / QN) + tn]);
#pragma unroll
            for (int i = 0; i < TM; i++)
#pragma unroll
                for (int j = 0; j < QN; j++) {
                    float v = at(x[i / 4], i % 4);
                    sum[i][j].x = fmaf(v, w[j].x, sum[i][j].x);
                    sum[i][j].y = fmaf(v, w[j].y, sum[i][j].y);
                    sum[i][j].z = fmaf(v, w[j].z, sum[i][j].z);
                    sum[i][j].w = fmaf(v, w[j].w, sum[i][j].w);
                }
        }
        if (more) {
            pixels.store(a[half ^ 1]);
            weights.store(b[half ^ 1]);
            __syncthreads();
        }
    }
    const int count = p.out_h * p.out_w;
#pragma unroll
    for (int i = 0; i < TM; i++) {
        int m = m0 + i / 4 * (BM / QM) + tm + i % 4;
        if (m >= count) continue;
#pragma unroll
        for (int j = 0; j < QN; j++) {
            int channel = n0 + j * (BN / QN) + tn;
            if (channel >= p.oc) continue;
            if (p.splits > 1) store4(p.partial + (((long long)blockIdx.z * count + m) * p.oc4 + channel), sum[i][j]);
            else finish<LATE>(p, m, group * p.oc + channel, sum[i][j], p.oc - channel);
        }
    }
    if (!LATE || p.splits > 1 || !is_long(p.act)) return;
#pragma unroll 1
    for (int i = 0; i < TM * QN; i++) {
        int m = m0 + i / QN / 4 * (BM / QM) + tm + i / QN % 4, channel = n0 + i % QN * (BN / QN) + tn;
        if (m < count && channel < p.oc) finish_late(p, m, group * p.oc + channel, p.oc - channel);
    }
}

GPU_KERNEL(256, 2, conv_128x128, ig_gpu_conv)
{
    tile<128, 128, 8, 8, 8, true, quads<128, 8, 256> >(p, flat_image());
}

GPU_KERNEL(128, 3, conv_128x64, ig_gpu_conv)
{
    tile<128, 64, 16, 8, 8, LONG_CALLED, quads<128, 16, 128> >(p, flat_image());
}

GPU_KERNEL(64, 4, conv_64x64, ig_gpu_conv)
{
    tile<64, 64, 16, 8, 8, LONG_CALLED, quads<64, 16, 64> >(p, flat_image());
}

GPU_KERNEL(128, 3, conv_64x64s, ig_gpu_conv)
{
    tile<64, 64, 16, 8, 4, LONG_CALLED, quads<64, 16, 128> >(p, flat_image());
}

GPU_KERNEL(64, 8, conv_32x32, ig_gpu_conv)
{
    tile<32, 32, 16, 4, 4, LONG_CALLED, quads<32, 16, 64> >(p, flat_image());
}

GPU_KERNEL(128, 3, conv_any64x64, ig_gpu_conv)
{
    tile<64, 64, 16, 8, 4, LONG_CALLED, singles<64, 16, 128> >(p, flat_image());
}

GPU_KERNEL(64, 8, conv_any32x32, ig_gpu_conv)
{
    tile<32, 32, 16, 4, 4, LONG_CALLED, singles<32, 16, 64> >(p, flat_image());
}

GPU_KERNEL(128, 3, conv_volume64x64, ig_gpu_volume)
{
    tile<64, 64, 16, 8, 4, LONG_CALLED, quads<64, 16, 128, ig_gpu_depth> >(p.flat, p.depth);
}

GPU_KERNEL(64, 8, conv_volume32x32, ig_gpu_volume)
{
    tile<32, 32, 16, 4, 4, LONG_CALLED, quads<32, 16, 64, ig_gpu_depth> >(p.flat, p.depth);
}

GPU_KERNEL(128, 3, conv_volume_any64x64, ig_gpu_volume)
{
    tile<64, 64, 16, 8, 4, LONG_CALLED, singles<64, 16, 128, ig_gpu_depth> >(p.flat, p.depth);
}

GPU_KERNEL(64, 8, conv_volume_any32x32, ig_gpu_volume)
{
    tile<32, 32, 16, 4, 4, LONG_CALLED, singles<32, 16, 64, ig_gpu_depth> >(p.flat, p.depth);
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
