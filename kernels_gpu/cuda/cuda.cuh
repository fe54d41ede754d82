/* What every kernel shares: how it is declared, four channels at a time, activations. */
#ifndef KERNELS_GPU_CUDA_CUDA_CUH
#define KERNELS_GPU_CUDA_CUDA_CUH

#include "graph/op.h"
#include "kernels_gpu/params.h"

#ifdef __CUDACC__
#define SHARED(type, name, ...) __shared__ type name __VA_ARGS__
#define GPU_ENTRY(threads, blocks) extern "C" __global__ void __launch_bounds__(threads, blocks)
/*
 * A program carries the kernels of its plan alone: it defines GPU_CHOSEN, and CHOSEN_<name> as 1 for each of them. Another
 * becomes a template that nobody instantiates.
 */
#ifdef GPU_CHOSEN
#define GPU_IF_1 0,
#define GPU_SECOND(first, second, ...) second
#define GPU_PICK(...) GPU_SECOND(__VA_ARGS__)
#define GPU_IF(chosen, threads, blocks) GPU_PICK(GPU_IF_##chosen GPU_ENTRY(threads, blocks), template <int> static __device__ void, 0)
#define GPU_LINKAGE(chosen, threads, blocks) GPU_IF(chosen, threads, blocks)
#define GPU_KERNEL(threads, blocks, name, type) GPU_LINKAGE(CHOSEN_##name, threads, blocks) name(const type p)
#else
#define GPU_KERNEL(threads, blocks, name, type) GPU_ENTRY(threads, blocks) name(const type p)
#endif
#define IS_ALIGNED(p, bytes) (void)0 /* the device sees to it */
#endif

static __device__ __forceinline__ float clamp(float x, float low, float high)
{
    x = x < low ? low : x;
    return x > high ? high : x;
}

/* 1/(1 + e^-x) */
static __device__ __forceinline__ float sigmoid(float x)
{
    return 1.0f / (1.0f + expf(-x));
}

/* ln(1 + e^x) */
static __device__ __forceinline__ float softplus(float x)
{
    return x > 0 ? x + log1pf(expf(-x)) : log1pf(expf(x));
}

/* Activations that the kernels know, a bit for each kind; a program's those of its plan. */
#ifndef GPU_ACTIVATIONS
#define GPU_ACTIVATIONS ~0u
#endif
#define ACTIVATION(kind, y) case kind: if (GPU_ACTIVATIONS >> kind & 1) return y; else break

/* The activations that may follow another op; graph/op.h. NaN stays NaN. */
static __device__ __forceinline__ float activate(const ig_gpu_act &act, float x)
{
    switch (act.kind) {
    ACTIVATION(IG_RELU, x < 0 ? 0 : x);
    ACTIVATION(IG_CLIP, clamp(x, act.alpha, act.beta));
    ACTIVATION(IG_LEAKY_RELU, x < 0 ? act.alpha * x : x);
    ACTIVATION(IG_SIGMOID, sigmoid(x));
    ACTIVATION(IG_TANH, tanhf(x));
    ACTIVATION(IG_HARD_SIGMOID, clamp(act.alpha * x + act.beta, 0, 1));
    ACTIVATION(IG_HARD_SWISH, x * clamp(x * (1.0f / 6) + 0.5f, 0, 1));
    ACTIVATION(IG_SWISH, x * sigmoid(act.alpha * x));
    ACTIVATION(IG_ELU, x < 0 ? act.alpha * expm1f(x) : x);
    ACTIVATION(IG_MISH, x * tanhf(softplus(x)));
    ACTIVATION(IG_SOFTPLUS, softplus(x));
    default: break;
    }
    return x;
}

static __device__ __forceinline__ float4 load4(const float *p)
{
    IS_ALIGNED(p, 16);
    return *(const float4 *)p;
}

static __device__ __forceinline__ void store4(float *p, float4 v)
{
    IS_ALIGNED(p, 16);
    *(float4 *)p = v;
}

/* Element j of v; j is known when the loop around it is unrolled. */
static __device__ __forceinline__ float &at(float4 &v, int j)
{
    return j == 0 ? v.x : j == 1 ? v.y : j == 2 ? v.z : v.w;
}

/* n <= 4 consecutive floats, the rest zero. */
template <bool VECTOR> static __device__ __forceinline__ float4 load_upto4(const float *p, int n)
{
    if (VECTOR) return load4(p);
    return make_float4(p[0], n > 1 ? p[1] : 0, n > 2 ? p[2] : 0, n > 3 ? p[3] : 0);
}

template <bool VECTOR> static __device__ __forceinline__ void store_upto4(float *p, float4 v, int n)
{
    if (VECTOR) {
        store4(p, v);
        return;
    }
    p[0] = v.x;
    if (n > 1) p[1] = v.y;
    if (n > 2) p[2] = v.z;
    if (n > 3) p[3] = v.w;
}

static __device__ __forceinline__ float4 activate4(const ig_gpu_act &act, float4 v)
{
    return make_float4(activate(act, v.x), activate(act, v.y), activate(act, v.z), activate(act, v.w));
}

#endif
