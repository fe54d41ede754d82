/* What a unit of a recurrent layer makes of its sums, for recurrent.cu and recurrent_spread.cu. */
#ifndef KERNELS_GPU_CUDA_RECURRENT_CUH
#define KERNELS_GPU_CUDA_RECURRENT_CUH

#include "kernels_gpu/cuda/cuda.cuh"
#include "kernels_gpu/params_tensor.h"

/* What the lane that finishes a unit has of it, for each gate. */
struct recurrent_unit {
    float x[4], s[4];
};

/* What direction d has of each tensor; x and y still go on by all directions. */
static __device__ __forceinline__ ig_gpu_recurrent recurrent_own(ig_gpu_recurrent p, int d, int gates)
{
    const int state = d * p.batch * p.hidden;
    p.x += d * gates * p.hidden;
    p.r += d * gates * p.hidden * p.hidden;
    p.y += state;
    if (p.bias) p.bias += d * p.hidden;
    if (p.h0) p.h0 += state;
    if (p.c0) p.c0 += state;
    if (p.peepholes) p.peepholes += 3 * d * p.hidden;
    if (p.last_h) p.last_h += state;
    if (p.last_c) p.last_c += state;
    p.reverse = p.reverse >> d & 1;
    return p;
}

static __device__ __forceinline__ float recurrent_dot(float4 a, float4 b, float sum)
{
    sum = fmaf(a.x, b.x, sum);
    sum = fmaf(a.y, b.y, sum);
    sum = fmaf(a.z, b.z, sum);
    return fmaf(a.w, b.w, sum);
}

static __device__ __forceinline__ float recurrent_act(const ig_gpu_recurrent &p, const ig_gpu_act &act, float v)
{
    return activate(act, p.clip > 0 ? clamp(v, -p.clip, p.clip) : v);
}

/* h of unit j, from its sums; `state`: its c, of this step and then of the next. */
static __device__ __forceinline__ float recurrent_lstm_h(const ig_gpu_recurrent &p, const recurrent_unit &of, float &state, int j)
{
    const float *own = p.peepholes;
    const float before = state;
    float i = of.x[0] + of.s[0], o = of.x[1] + of.s[1], f = of.x[2] + of.s[2];
    if (own) i = fmaf(own[j], before, i);
    if (own) f = fmaf(own[2 * p.hidden + j], before, f);
    i = recurrent_act(p, p.f, i);
    f = p.input_forget ? 1 - i : recurrent_act(p, p.f, f);
    const float c = fmaf(f, before, i * recurrent_act(p, p.g, of.x[3] + of.s[3]));
    state = c;
    if (own) o = fmaf(own[p.hidden + j], c, o);
    return recurrent_act(p, p.f, o) * activate(p.u, c);
}

static __device__ __forceinline__ float recurrent_gru_h(float z, float n, float before)
{
    return fmaf(1 - z, n, z * before);
}

/* Of a GRU whose reset comes behind its product. */
static __device__ __forceinline__ float recurrent_after_h(const ig_gpu_recurrent &p, const recurrent_unit &of, float before, int j)
{
    const float z = recurrent_act(p, p.f, of.x[0] + of.s[0]), r = recurrent_act(p, p.f, of.x[1] + of.s[1]);
    const float own = of.s[2] + (p.bias ? p.bias[j] : 0);
    return recurrent_gru_h(z, recurrent_act(p, p.g, fmaf(r, own, of.x[2])), before);
}

#endif
