/*
 * Normalisations: a block per group of elements, y = (x - shift) factor scale + bias with shift and factor from the
 * group's mean and variance or its norm. Threads take every 128th member; what they add up is joined by halves within
 * a warp, then over the warps, in a fixed order. Members that lie side by side, up to 2048, stay in registers: memory is read once and written once.
 * Of groups that lie side by side, an image's channels, a warp's lanes take neighbours; blocks have pieces of the members, of which each
 * gives a mean and a sum of squares about it, which are joined exactly (Chan, Golub, LeVeque 1979): read twice, written once.
 */
#include "kernels_gpu/cuda/element.cuh"

static __device__ __forceinline__ float norm_sum(float mine, float *part)
{
#pragma unroll
    for (int half = 16; half; half >>= 1) mine += __shfl_xor_sync(0xffffffff, mine, half);
    if (threadIdx.x % 32 == 0) part[threadIdx.x / 32] = mine;
    __syncthreads();
    const float all = (part[0] + part[1]) + (part[2] + part[3]);
    __syncthreads();
    return all;
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

static __device__ __forceinline__ void norm_report(const ig_gpu_norm &p, float shift, float factor)
{
    if (threadIdx.x) return;
    if (p.shifts) p.shifts[blockIdx.x] = shift;
    if (p.factors) p.factors[blockIdx.x] = factor;
}

enum { KEPT = IG_GPU_NORM_KEPT / 128 };

GPU_KERNEL(128, 8, norm_kept, ig_gpu_norm)
{
    SHARED(float, part, [4]);
    const int base = walk_part(p.dims, p.at, 0, p.outer, blockIdx.x), me = threadIdx.x;
    float v[KEPT], sum = 0, shift = 0;
#pragma unroll
    for (int k = 0; k < KEPT; k++) v[k] = me + 128 * k < p.count ? p.in[base + me + 128 * k] : 0;
    if (norm_shifts(p.kind)) {
#pragma unroll
        for (int k = 0; k < KEPT; k++) sum += v[k];
        shift = norm_sum(sum, part) / (float)p.count;
    }
    sum = 0;
#pragma unroll
    for (int k = 0; k < KEPT; k++)
        if (me + 128 * k < p.count) sum += norm_term(p.kind, p.p, v[k] - shift);
    const float factor = norm_factor(p, norm_sum(sum, part));
#pragma unroll
    for (int g = 0; g < KEPT; g += 4) { /* scales and biases of four are read before the first is stored */
#pragma unroll
        for (int k = g; k < g + 4; k++)
            if (me + 128 * k < p.count) v[k] = norm_affine(p, (v[k] - shift) * factor, me + 128 * k, base + me + 128 * k);
#pragma unroll
        for (int k = g; k < g + 4; k++)
            if (me + 128 * k < p.count) p.out[base + me + 128 * k] = v[k];
    }
    norm_report(p, shift, factor);
}

GPU_KERNEL(128, 8, norm_128, ig_gpu_norm)
{
    SHARED(float, part, [4]);
    const int base = walk_part(p.dims, p.at, 0, p.outer, blockIdx.x), me = threadIdx.x;
    float sum = 0, shift = 0;
    if (norm_shifts(p.kind)) {
        for (int i = me; i < p.count; i += 128) sum += p.in[base + walk_part(p.dims, p.at, p.outer, p.inner, i)];
        shift = norm_sum(sum, part) / (float)p.count;
    }
    sum = 0;
    for (int i = me; i < p.count; i += 128)
        sum += norm_term(p.kind, p.p, p.in[base + walk_part(p.dims, p.at, p.outer, p.inner, i)] - shift);
    const float factor = norm_factor(p, norm_sum(sum, part));
    for (int i = me; i < p.count; i += 128) {
        const int at = base + walk_part(p.dims, p.at, p.outer, p.inner, i);
        p.out[at] = norm_affine(p, (p.in[at] - shift) * factor, i, at);
    }
    norm_report(p, shift, factor);
}

/* --- channels --- */

struct norm_moments {    /* of n members */
    float n, mean, squares;
};

static __device__ __forceinline__ norm_moments norm_joined(norm_moments a, norm_moments b)
{
    const float n = a.n + b.n, d = b.mean - a.mean, share = n > 0 ? b.n / n : 0;
    const norm_moments both = {n, fmaf(d, share, a.mean), a.squares + b.squares + d * d * a.n * share};
    return both;
}

/* Four members or fewer, `step` apart. */
static __device__ __forceinline__ norm_moments norm_four(const float *p, int step, int n)
{
    float v[4], sum = 0;
    norm_moments m = {(float)n, 0, 0};
#pragma unroll
    for (int k = 0; k < 4; k++) v[k] = k < n ? p[k * step] : 0;
#pragma unroll
    for (int k = 0; k < 4; k++) sum += v[k];
    m.mean = sum / m.n;
#pragma unroll
    for (int k = 0; k < 4; k++) m.squares += k < n ? (v[k] - m.mean) * (v[k] - m.mean) : 0;
    return m;
}

/* Moments of members [blockIdx.y * chunk, + chunk), or of what such pieces gave: then shift and factor of each channel. */
GPU_KERNEL(256, 4, norm_moments_32, ig_gpu_norm_channels)
{
    SHARED(float, part, [3][8][32]);
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32, channel = blockIdx.x * 32 + lane;
    const int first = blockIdx.y * p.chunk, end = min(first + p.chunk, p.pieces ? p.pieces : p.pixels);
    norm_moments m = {0, 0, 0};
    if (channel < p.c) {
        if (p.pieces)
            for (int i = first + warp; i < end; i += 8) {
                const float *at = p.moments + (i * 3 * p.c + channel);
                const norm_moments of = {at[0], at[p.c], at[2 * p.c]};
                m = norm_joined(m, of);
            }
        else
            for (int i = first + warp * 4; i < end; i += 32)
                m = norm_joined(m, norm_four(p.in + (i * p.c + channel), p.c, min(4, end - i)));
    }
    part[0][warp][lane] = m.n;
    part[1][warp][lane] = m.mean;
    part[2][warp][lane] = m.squares;
    __syncthreads();
    if (warp || channel >= p.c) return;
    for (int i = 1; i < 8; i++) {
        const norm_moments of = {part[0][i][lane], part[1][i][lane], part[2][i][lane]};
        m = norm_joined(m, of);
    }
    if (p.pieces) {
        p.shifts[channel] = m.mean;
        p.factors[channel] = 1 / sqrtf(m.squares / m.n + p.epsilon);
    } else {
        float *to = p.moments + (blockIdx.y * 3 * p.c + channel);
        to[0] = m.n;
        to[p.c] = m.mean;
        to[2 * p.c] = m.squares;
    }
}

/* Up to four elements a thread. */
GPU_KERNEL(128, 8, norm_channels, ig_gpu_norm_channels)
{
    const int first = blockIdx.x * 128 + threadIdx.x, step = gridDim.x * 128, count = p.pixels * p.c;
    float v[IG_GPU_SOME];
#pragma unroll
    for (int k = 0; k < IG_GPU_SOME; k++) v[k] = first + k * step < count ? p.in[first + k * step] : 0;
#pragma unroll
    for (int k = 0; k < IG_GPU_SOME; k++) {
        const int channel = (first + k * step) % p.c;
        v[k] = (v[k] - p.shifts[channel]) * p.factors[channel];
        if (p.scale) v[k] *= p.scale[channel];
        if (p.bias) v[k] += p.bias[channel];
    }
#pragma unroll
    for (int k = 0; k < IG_GPU_SOME; k++)
        if (first + k * step < count) p.out[first + k * step] = v[k];
}
