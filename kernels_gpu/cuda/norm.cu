/*
 * Normalisations: a block per group of elements, y = (x - shift) factor scale + bias with shift and factor from the
 * group's mean and variance or its norm. Threads take every 128th member; what they add up is joined by halves within
 * a warp, then over the warps, in a fixed order. Members that lie side by side, up to 2048, stay in registers: memory is read once
 * and written once; of many groups of up to 1024 each is a warp's, which waits for no other.
 * Of groups that lie side by side, an image's channels, a block is a tile of threads, some side by side, the others pixels apart. Blocks
 * have pieces of the members, of which each gives a mean and a sum of squares about it, which are joined exactly (Chan, Golub,
 * LeVeque 1979): read twice, the second time from the end, which a cache may still have, written once.
 */
#include "kernels_gpu/cuda/element.cuh"

static __device__ __forceinline__ float norm_sum(float mine, float *part)
{
    UNROLL
    for (int half = 16; half; half >>= 1) mine += __shfl_xor_sync(0xffffffff, mine, half);
    if (threadIdx.x % 32 == 0) part[threadIdx.x / 32] = mine;
    __syncthreads();
    const float all = (part[0] + part[1]) + (part[2] + part[3]);
    __syncthreads();
    return all;
}

/* Is v a number that is not infinite? */
static __device__ __forceinline__ bool norm_finite(float v)
{
    return fabsf(v) <= 3.40282347e38f;
}

static __device__ __forceinline__ float norm_term(int kind, int power, float d)
{
    if (kind != IG_NORM_LP || power == 2) return d * d;
    return power == 1 ? fabsf(d) : powf(fabsf(d), (float)power);
}

static __device__ __forceinline__ float norm_factor(const ig_gpu_norm &p, float sum)
{
    const float mean = sum / (float)p.count;
    switch (p.kind) {
    case IG_NORM_RMS: return 1 / sqrtf(mean + p.epsilon);
    case IG_NORM_LP: {
        const float norm = p.p == 1 ? sum : p.p == 2 ? sqrtf(sum) : powf(sum, 1.0f / (float)p.p);
        return norm > 0 ? 1 / norm : 0;
    }
    case IG_NORM_MVN: return 1 / (sqrtf(mean) + p.epsilon);
    default: return 1 / sqrtf(mean + p.epsilon);
    }
}

/* Whether members have a mean that is taken from them. */
static __device__ __forceinline__ bool norm_shifts(int kind)
{
    return kind != IG_NORM_RMS && kind != IG_NORM_LP;
}

/* Member i of the group, at `at` of the tensor, with its scale and bias. */
static __device__ __forceinline__ float norm_affine(const ig_gpu_norm &p, float v, int i, int at)
{
    if (p.scale) v *= p.scale[p.plain ? i : walk(p.shape, p.scale_at, p.rank, at)];
    if (p.bias) v += p.bias[p.plain ? i : walk(p.shape, p.bias_at, p.rank, at)];
    return v;
}

static __device__ __forceinline__ void norm_report(const ig_gpu_norm &p, int group, float shift, float factor)
{
    if (p.shifts) p.shifts[group] = shift;
    if (p.factors) p.factors[group] = factor;
}

enum { KEPT = IG_GPU_NORM_KEPT / 128 };

GPU_KERNEL(128, 8, norm_kept, ig_gpu_norm)
{
    SHARED(float, part, [4]);
    const int base = walk_part(p.dims, p.at, 0, p.outer, blockIdx.x), me = threadIdx.x;
    float v[KEPT], sum = 0, shift = 0;
    UNROLL
    for (int k = 0; k < KEPT; k++) v[k] = me + 128 * k < p.count ? p.in[base + me + 128 * k] : 0;
    if (norm_shifts(p.kind)) {
        UNROLL
        for (int k = 0; k < KEPT; k++) sum += v[k];
        shift = norm_sum(sum, part) / (float)p.count;
        sum = 0; /* what the mean is off by, so that equal elements become 0, however large */
        UNROLL
        for (int k = 0; k < KEPT; k++) sum += me + 128 * k < p.count ? v[k] - shift : 0;
        const float off = norm_sum(sum, part) / (float)p.count;
        if (norm_finite(shift)) shift += off;
    }
    sum = 0;
    UNROLL
    for (int k = 0; k < KEPT; k++)
        if (me + 128 * k < p.count) sum += norm_term(p.kind, p.p, v[k] - shift);
    const float factor = norm_factor(p, norm_sum(sum, part));
    UNROLL
    for (int g = 0; g < KEPT; g += 4) { /* scales and biases of four are read before the first is stored */
        UNROLL
        for (int k = g; k < g + 4; k++)
            if (me + 128 * k < p.count) v[k] = norm_affine(p, (v[k] - shift) * factor, me + 128 * k, base + me + 128 * k);
        UNROLL
        for (int k = g; k < g + 4; k++)
            if (me + 128 * k < p.count) p.out[base + me + 128 * k] = v[k];
    }
    if (!me) norm_report(p, blockIdx.x, shift, factor);
}

static __device__ __forceinline__ float norm_lanes(float mine)
{
    UNROLL
    for (int half = 16; half; half >>= 1) mine += __shfl_xor_sync(0xffffffff, mine, half);
    return mine;
}

/* A warp's group of up to 32 N members, whose scales and biases are as they. */
template <int N> static __device__ __forceinline__ void norm_warp(const ig_gpu_norm &p)
{
    const int group = blockIdx.x * 4 + threadIdx.x / 32, me = threadIdx.x % 32;
    if (group >= p.groups) return;
    const int base = walk_part(p.dims, p.at, 0, p.outer, group);
    float v[N], sum = 0, shift = 0;
    UNROLL
    for (int k = 0; k < N; k++) v[k] = me + 32 * k < p.count ? p.in[base + me + 32 * k] : 0;
    if (norm_shifts(p.kind)) {
        UNROLL
        for (int k = 0; k < N; k++) sum += v[k];
        shift = norm_lanes(sum) / (float)p.count;
        sum = 0; /* as norm_kept does it */
        UNROLL
        for (int k = 0; k < N; k++) sum += me + 32 * k < p.count ? v[k] - shift : 0;
        const float off = norm_lanes(sum) / (float)p.count;
        if (norm_finite(shift)) shift += off;
    }
    sum = 0;
    const bool absolute = p.kind == IG_NORM_LP && p.p == 1;
    UNROLL
    for (int k = 0; k < N; k++) {
        const float d = me + 32 * k < p.count ? v[k] - shift : 0;
        sum += absolute ? fabsf(d) : d * d;
    }
    const float factor = norm_factor(p, norm_lanes(sum));
    UNROLL
    for (int g = 0; g < N; g += 8) { /* scales and biases of eight are read before the first is stored */
        float scale[8], bias[8];
        UNROLL
        for (int k = 0; k < 8; k++) {
            const int i = me + 32 * (g + k);
            scale[k] = p.scale && i < p.count ? p.scale[i] : 1;
            bias[k] = p.bias && i < p.count ? p.bias[i] : 0;
        }
        UNROLL
        for (int k = 0; k < 8; k++) {
            const int i = me + 32 * (g + k);
            float y = (v[g + k] - shift) * factor * scale[k];
            if (p.bias) y += bias[k];
            if (i < p.count) p.out[base + i] = y;
        }
    }
    if (!me) norm_report(p, group, shift, factor);
}

GPU_KERNEL(128, 8, norm_warp8, ig_gpu_norm)
{
    norm_warp<8>(p);
}

GPU_KERNEL(128, 6, norm_warp32, ig_gpu_norm)
{
    norm_warp<32>(p);
}

GPU_KERNEL(128, 8, norm_128, ig_gpu_norm)
{
    SHARED(float, part, [4]);
    const int base = walk_part(p.dims, p.at, 0, p.outer, blockIdx.x), me = threadIdx.x;
    float sum = 0, shift = 0;
    if (norm_shifts(p.kind)) {
        const float first = me ? 0 : p.in[base];
        if (!me) part[0] = norm_finite(first) ? first : 0;
        __syncthreads();
        shift = part[0]; /* the first: equal elements become 0, however large */
        __syncthreads();
        if (!me) sum = first - shift;
        for (int i = me ? me : 128; i < p.count; i += 128) sum += p.in[base + walk_part(p.dims, p.at, p.outer, p.inner, i)] - shift;
        shift += norm_sum(sum, part) / (float)p.count;
    }
    sum = 0;
    for (int i = me; i < p.count; i += 128)
        sum += norm_term(p.kind, p.p, p.in[base + walk_part(p.dims, p.at, p.outer, p.inner, i)] - shift);
    const float factor = norm_factor(p, norm_sum(sum, part));
    for (int i = me; i < p.count; i += 128) {
        const int at = base + walk_part(p.dims, p.at, p.outer, p.inner, i);
        p.out[at] = norm_affine(p, (p.in[at] - shift) * factor, i, at);
    }
    if (!me) norm_report(p, blockIdx.x, shift, factor);
}

/* --- channels --- */

enum { NORM_TILE = 256, NORM_TAKEN = 4 /* pixels of a thread under way */ };

template <int W> struct norm_moments_of {    /* of n members of each */
    float n;
    vec<W> mean, squares;
};

template <int W> static __device__ __forceinline__ void join_moments(norm_moments_of<W> &a, const norm_moments_of<W> &b)
{
    const float n = a.n + b.n, share = n > 0 ? b.n / n : 0, both = a.n * share;
    UNROLL
    for (int j = 0; j < W; j++) {
        const float d = b.mean.x[j] - a.mean.x[j];
        a.mean.x[j] = fmaf(d, share, a.mean.x[j]);
        a.squares.x[j] = a.squares.x[j] + b.squares.x[j] + d * d * both;
    }
    a.n = n;
}

/* NORM_TAKEN pixels or fewer, `step` floats apart. */
template <int W> static __device__ __forceinline__ norm_moments_of<W> moments_of(const float *p, int step, int n)
{
    vec<W> v[NORM_TAKEN];
    norm_moments_of<W> m = {(float)n, {}, {}};
    const float by = n == NORM_TAKEN ? 1.0f / NORM_TAKEN : 1 / m.n;
    UNROLL
    for (int k = 0; k < NORM_TAKEN; k++)
        if (k < n) v[k] = load_vec<W>(p + k * step);
        else v[k] = {};
    UNROLL
    for (int j = 0; j < W; j++) {
        float sum = 0;
        UNROLL
        for (int k = 0; k < NORM_TAKEN; k++) sum += v[k].x[j];
        m.mean.x[j] = sum * by;
        UNROLL
        for (int k = 0; k < NORM_TAKEN; k++) {
            const float d = k < n ? v[k].x[j] - m.mean.x[j] : 0;
            m.squares.x[j] += d * d;
        }
    }
    return m;
}

/* Of pixels [first, end) those of a row of the tile. */
template <int W>
static __device__ __forceinline__ void make_moments(const ig_gpu_norm_channels &p, norm_moments_of<W> &m, int channel, int row, int rows)
{
    const int first = blockIdx.y * p.chunk, end = min(first + p.chunk, p.pixels);
#pragma unroll 1
    for (int i = first + row; i < end; i += rows * NORM_TAKEN)
        join_moments(m, moments_of<W>(p.in + (i * p.c + channel), rows * p.c, min(NORM_TAKEN, (end - i + rows - 1) / rows)));
}

/* Of what pieces gave. */
template <int W>
static __device__ __forceinline__ void take_moments(const ig_gpu_norm_channels &p, norm_moments_of<W> &m, int channel, int row, int rows)
{
    for (int i = row; i < p.pieces; i += rows) {
        const float *at = p.moments + (i * 3 * p.c + channel);
        const norm_moments_of<W> of = {at[0], load_vec<W>(at + p.c), load_vec<W>(at + 2 * p.c)};
        join_moments(m, of);
    }
}

template <int W> static __device__ __forceinline__ void put_moments(const ig_gpu_norm_channels &p, const norm_moments_of<W> &m, int channel)
{
    float *to = p.moments + (blockIdx.y * 3 * p.c + channel);
    UNROLL
    for (int j = 0; j < W; j++) to[j] = m.n;
    store_vec(to + p.c, m.mean);
    store_vec(to + 2 * p.c, m.squares);
}

template <int W> static __device__ __forceinline__ void put_factors(const ig_gpu_norm_channels &p, const norm_moments_of<W> &m, int channel)
{
    store_vec(p.shifts + channel, m.mean);
    UNROLL
    for (int j = 0; j < W; j++) p.factors[channel + j] = 1 / sqrtf(m.squares.x[j] / m.n + p.epsilon);
}

/* Moments of pixels [blockIdx.y * chunk, + chunk), or of what such pieces gave: then shift and factor of each channel. */
template <int W> static __device__ __forceinline__ void norm_moments(const ig_gpu_norm_channels &p, norm_moments_of<W> (&part)[NORM_TILE])
{
    const int me = threadIdx.x, rows = NORM_TILE / p.across, row = me / p.across, channel = (blockIdx.x * p.across + me - row * p.across) * W;
    norm_moments_of<W> m = {0, {}, {}};
    if (channel < p.c) {
        if (p.pieces) take_moments<W>(p, m, channel, row, rows);
        else make_moments<W>(p, m, channel, row, rows);
    }
    part[me] = m;
    for (int half = rows / 2; half; half >>= 1) {
        __syncthreads();
        if (row >= half) continue;
        join_moments(m, part[me + half * p.across]);
        part[me] = m;
    }
    if (row || channel >= p.c) return;
    if (p.pieces) put_factors<W>(p, m, channel);
    else put_moments<W>(p, m, channel);
}

GPU_KERNEL(256, 4, norm_moments_4, ig_gpu_norm_channels)
{
    SHARED(norm_moments_of<4>, part, [NORM_TILE]);
    norm_moments<4>(p, part);
}

GPU_KERNEL(256, 4, norm_moments_1, ig_gpu_norm_channels)
{
    SHARED(norm_moments_of<1>, part, [NORM_TILE]);
    norm_moments<1>(p, part);
}

/* The last block is the first of the image: what was read last comes first. */
template <int W> static __device__ __forceinline__ void norm_channels(const ig_gpu_norm_channels &p)
{
    const int vectors = p.c / W, count = p.pixels * vectors, first = (gridDim.x - 1 - blockIdx.x) * p.chunk + threadIdx.x;
    const int n = min(p.chunk / 128, (count - first + 127) / 128);
    vec<W> v[IG_GPU_SOME];
    UNROLL
    for (int k = 0; k < IG_GPU_SOME; k++)
        if (k < n) v[k] = load_vec<W>(p.in + (first + k * 128) * W);
    UNROLL
    for (int k = 0; k < IG_GPU_SOME; k++) {
        const int channel = (int)((unsigned)(first + k * 128) % (unsigned)vectors) * W;
        if (k >= n) return;
        const vec<W> shift = load_vec<W>(p.shifts + channel), factor = load_vec<W>(p.factors + channel);
        vec<W> scale = {}, bias = {};
        if (p.scale) scale = load_vec<W>(p.scale + channel);
        if (p.bias) bias = load_vec<W>(p.bias + channel);
        UNROLL
        for (int j = 0; j < W; j++) {
            v[k].x[j] = (v[k].x[j] - shift.x[j]) * factor.x[j];
            if (p.scale) v[k].x[j] *= scale.x[j];
            if (p.bias) v[k].x[j] += bias.x[j];
        }
        store_vec(p.out + (first + k * 128) * W, v[k]);
    }
}

GPU_KERNEL(128, 8, norm_channels_4, ig_gpu_norm_channels)
{
    norm_channels<4>(p);
}

GPU_KERNEL(128, 8, norm_channels_1, ig_gpu_norm_channels)
{
    norm_channels<1>(p);
}
