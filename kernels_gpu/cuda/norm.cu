/*
 * Normalisations: a block per group of elements, y = (x - shift) factor scale + bias with shift and factor from the
 * group's mean and variance or its norm. Threads take every 128th member; what they add up is joined by halves, in a
 * fixed order.
 */
#include "kernels_gpu/cuda/element.cuh"

static __device__ __forceinline__ float norm_sum(float mine, float *part)
{
    const int me = threadIdx.x;
    part[me] = mine;
    __syncthreads();
    for (int half = 64; half; half >>= 1) {
        if (me < half) part[me] += part[me + half];
        __syncthreads();
    }
    const float all = part[0];
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

GPU_KERNEL(128, 8, norm_128, ig_gpu_norm)
{
    SHARED(float, part, [128]);
    const int base = walk_part(p.dims, p.at, 0, p.outer, blockIdx.x), me = threadIdx.x;
    float sum = 0, shift = 0;
    if (p.kind != IG_NORM_RMS && p.kind != IG_NORM_LP) {
        for (int i = me; i < p.count; i += 128) sum += p.in[base + walk_part(p.dims, p.at, p.outer, p.inner, i)];
        shift = norm_sum(sum, part) / (float)p.count;
    }
    sum = 0;
    for (int i = me; i < p.count; i += 128)
        sum += norm_term(p.kind, p.p, p.in[base + walk_part(p.dims, p.at, p.outer, p.inner, i)] - shift);
    const float factor = norm_factor(p, norm_sum(sum, part));
    for (int i = me; i < p.count; i += 128) {
        const int at = base + walk_part(p.dims, p.at, p.outer, p.inner, i);
        float v = (p.in[at] - shift) * factor;
        if (p.scale) v *= p.scale[walk(p.shape, p.scale_at, p.rank, at)];
        if (p.bias) v += p.bias[walk(p.shape, p.bias_at, p.rank, at)];
        p.out[at] = v;
    }
    if (me) return;
    if (p.shifts) p.shifts[blockIdx.x] = shift;
    if (p.factors) p.factors[blockIdx.x] = factor;
}
