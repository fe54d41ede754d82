/* Functions of one and of two floats: graph/op.h. */
#ifndef KERNELS_GPU_CUDA_FUNCTION_CUH
#define KERNELS_GPU_CUDA_FUNCTION_CUH

#include "kernels_gpu/cuda/cuda.cuh"

static __device__ __forceinline__ float unary(const ig_gpu_act &act, float x)
{
    const float a = act.alpha, b = act.beta;
    switch (act.kind) {
    case IG_SELU: return b * (x < 0 ? a * expm1f(x) : x);
    case IG_CELU: return x < 0 ? a * expm1f(x / a) : x;
    case IG_SOFTSIGN: return x / (1 + fabsf(x));
    case IG_THRESHOLDED_RELU: return x > a ? x : 0;
    case IG_AFFINE: return fmaf(a, x, b);
    case IG_ABS: return fabsf(x);
    case IG_NEG: return -x;
    case IG_CEIL: return ceilf(x);
    case IG_FLOOR: return floorf(x);
    case IG_ROUND: return rintf(x);
    case IG_RECIPROCAL: return 1 / x;
    case IG_SQRT: return sqrtf(x);
    case IG_EXP: return expf(x);
    case IG_LOG: return logf(x);
    default: return activate(act, x);
    }
}

static __device__ __forceinline__ float binary(int kind, float a, float b)
{
    switch (kind) {
    case IG_ADD: return a + b;
    case IG_SUB: return a - b;
    case IG_MUL: return a * b;
    case IG_DIV: return a / b;
    case IG_MAX: return a != a || a > b ? a : b;
    case IG_MIN: return a != a || a < b ? a : b;
    default: return a < 0 ? a * b : a; /* IG_PRELU */
    }
}

#endif
