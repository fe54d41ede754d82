/* What a unit of a recurrent layer makes of its sums, for recurrent.cu and recurrent_spread.cu. */
#ifndef KERNELS_GPU_CUDA_RECURRENT_CUH
#define KERNELS_GPU_CUDA_RECURRENT_CUH

#include "kernels_gpu/cuda/cuda.cuh"
#include "kernels_gpu/params_tensor.h"

/* What the lane that finishes a unit has of it, for each gate. */
struct recurrent_unit {
    float x[4], s[4];
};

/*
 * The block's direction. Tensors have it before the batch, and what is of one direction lies recurrent_behind(its elements) behind the first's:
 * found where it is needed, as pointers of a direction's own would take registers through all steps.
 */
static __device__ __forceinline__ int recurrent_direction()
{
    return blockIdx.z;
}

static __device__ __forceinline__ int recurrent_behind(int elements)
{
    return recurrent_direction() * elements;
}

/* Row of R that unit j has of a gate. */
static __device__ __forceinline__ int recurrent_row(const ig_gpu_recurrent &p, int gate, int j)
{
    return (recurrent_behind(p.kind == IG_LSTM ? 4 : p.kind == IG_GRU ? 3 : 1) + gate) * p.hidden + j;
}

/* Which step of x and y comes as number `step`. */
static __device__ __forceinline__ int recurrent_time(const ig_gpu_recurrent &p, int step)
{
    return p.reverse >> recurrent_direction() & 1 ? p.steps - 1 - step : step;
}

/* Gates that are given for a unit of a row of the batch: the first of G, which are `hidden` apart. */
template <int G> static __device__ __forceinline__ const float *recurrent_x(const ig_gpu_recurrent &p, int step, int row, int j)
{
    return p.x + (((recurrent_time(p, step) * p.batch + row) * p.directions + recurrent_direction()) * (G * p.hidden) + j);
}

/* First unit of a row of the batch, of y. */
static __device__ __forceinline__ int recurrent_y(const ig_gpu_recurrent &p, int step, int row)
{
    return ((recurrent_time(p, step) * p.directions + recurrent_direction()) * p.batch + row) * p.hidden;
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
    const float *own = p.peepholes ? p.peepholes + recurrent_behind(3 * p.hidden) : NULL;
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
    const float own = of.s[2] + (p.bias ? p.bias[recurrent_behind(p.hidden) + j] : 0);
    return recurrent_gru_h(z, recurrent_act(p, p.g, fmaf(r, own, of.x[2])), before);
}

#endif
