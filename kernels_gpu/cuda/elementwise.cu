/*
 * Element by element, of any type and any broadcasting: what map.cu's vectors of floats leave over. Floats are computed
 * as floats, integers in 64 bits and wrapped.
 */
#include "kernels_gpu/cuda/element.cuh"
#include "kernels_gpu/cuda/function.cuh"

static __device__ __forceinline__ float gelu_tanh(float x)
{
    return 0.5f * x * (1 + tanhf(0.7978845608f /* sqrt(2/pi) */ * fmaf(0.044715f * x * x, x, x)));
}

/* The kinds that no vector kernel has. */
static __device__ float rare_unary(const ig_gpu_act &act, float x)
{
    switch (act.kind) {
    case IG_GELU: return 0.5f * x * (1 + erff(x * 0.7071067812f /* 1/sqrt(2) */));
    case IG_GELU_TANH: return gelu_tanh(x);
    case IG_SHRINK: return x < -act.alpha ? x + act.beta : x > act.alpha ? x - act.beta : 0;
    case IG_SIGN: return x > 0 ? 1 : x < 0 ? -1 : x;
    case IG_ERF: return erff(x);
    case IG_SIN: return sinf(x);
    case IG_COS: return cosf(x);
    case IG_TAN: return tanf(x);
    case IG_ASIN: return asinf(x);
    case IG_ACOS: return acosf(x);
    case IG_ATAN: return atanf(x);
    case IG_SINH: return sinhf(x);
    case IG_COSH: return coshf(x);
    case IG_ASINH: return asinhf(x);
    case IG_ACOSH: return acoshf(x);
    case IG_ATANH: return atanhf(x);
    default: return unary(act, x);
    }
}

static __device__ __forceinline__ long long unary_integer(const ig_gpu_act &act, long long x)
{
    switch (act.kind) {
    case IG_RELU: return x < 0 ? 0 : x;
    case IG_CLIP: return (double)x < act.alpha ? truncated(act.alpha) : (double)x > act.beta ? truncated(act.beta) : x;
    case IG_ABS: return x < 0 ? (long long)(0 - (unsigned long long)x) : x;
    case IG_NEG: return (long long)(0 - (unsigned long long)x);
    case IG_SIGN: return (x > 0) - (x < 0);
    case IG_NOT: return !x;
    case IG_BITWISE_NOT: return ~x;
    default: return x;
    }
}

GPU_KERNEL(128, 4, unary_typed, ig_gpu_typed)
{
    const int i = blockIdx.x * 128 + threadIdx.x;
    if (i >= p.count) return;
    const int from = walk(p.dims, p.a_at, p.n, i), to = walk(p.dims, p.out_at, p.n, i);
    if (!is_float(p.a_type)) {
        put_int(p.out, p.out_type, to, unary_integer(p.act, get_int(p.a, p.a_type, from)));
        return;
    }
    const float x = get_float(p.a, p.a_type, from);
    if (p.act.kind == IG_ISNAN) ((unsigned char *)p.out)[to] = x != x;
    else if (p.act.kind == IG_ISINF)
        ((unsigned char *)p.out)[to] = (x == INFINITY && p.act.beta != 0) || (x == -INFINITY && p.act.alpha != 0);
    else put_float(p.out, p.out_type, to, rare_unary(p.act, x));
}

/* --- two operands --- */

template <typename T> static __device__ __forceinline__ T modulo(T rest, T b)
{
    return rest != 0 && (rest < 0) != (b < 0) ? rest + b : rest;
}

static __device__ float rare_binary(int kind, float a, float b)
{
    switch (kind) {
    case IG_POW: return powf(a, b);
    case IG_MOD: return modulo(fmodf(a, b), b);
    case IG_FMOD: return fmodf(a, b);
    default: return binary(kind, a, b);
    }
}

/* An integer and a float, as a power may have. */
static __device__ double mixed_binary(int kind, double a, double b)
{
    switch (kind) {
    case IG_ADD: return a + b;
    case IG_SUB: return a - b;
    case IG_MUL: return a * b;
    case IG_DIV: return a / b;
    case IG_MAX: return a > b ? a : b;
    case IG_MIN: return a < b ? a : b;
    case IG_MOD: return modulo(fmod(a, b), b);
    case IG_FMOD: return fmod(a, b);
    case IG_PRELU: return a < 0 ? a * b : a;
    default: return pow(a, b);
    }
}

/* By zero: 0; by -1 apart, as the lowest number has no opposite. */
static __device__ __forceinline__ long long quotient(long long a, long long b)
{
    return b == 0 ? 0 : b == -1 ? (long long)(0 - (unsigned long long)a) : a / b;
}

static __device__ __forceinline__ long long remainder_of(long long a, long long b)
{
    return b == 0 || b == -1 ? 0 : a % b;
}

static __device__ __forceinline__ long long power(long long a, long long b)
{
    unsigned long long result = 1;
    if (b < 0) return a == 1 ? 1 : a == -1 ? (b % 2 ? -1 : 1) : 0;
    for (unsigned long long base = (unsigned long long)a; b; b >>= 1, base *= base)
        if (b & 1) result *= base;
    return (long long)result;
}

static __device__ long long binary_integer(int kind, long long a, long long b)
{
    const unsigned long long ua = (unsigned long long)a, ub = (unsigned long long)b;
    switch (kind) {
    case IG_ADD: return (long long)(ua + ub);
    case IG_SUB: return (long long)(ua - ub);
    case IG_MUL: return (long long)(ua * ub);
    case IG_DIV: return quotient(a, b);
    case IG_MAX: return a > b ? a : b;
    case IG_MIN: return a < b ? a : b;
    case IG_POW: return power(a, b);
    case IG_MOD: return modulo(remainder_of(a, b), b);
    case IG_FMOD: return remainder_of(a, b);
    case IG_PRELU: return a < 0 ? (long long)(ua * ub) : a;
    case IG_AND: return a && b;
    case IG_OR: return a || b;
    case IG_XOR: return !a != !b;
    case IG_BIT_AND: return a & b;
    case IG_BIT_OR: return a | b;
    case IG_BIT_XOR: return a ^ b;
    case IG_SHIFT_LEFT: return b < 0 || b > 63 ? 0 : (long long)(ua << b);
    case IG_SHIFT_RIGHT: return b < 0 || b > 63 ? 0 : a >> b;
    default: return 0;
    }
}

/* Less and greater are both false for NaN and equal numbers. */
static __device__ __forceinline__ bool compare(int kind, bool less, bool equal, bool greater)
{
    switch (kind) {
    case IG_EQUAL: return equal;
    case IG_GREATER: return greater;
    case IG_GREATER_EQUAL: return greater || equal;
    case IG_LESS: return less;
    default: return less || equal;
    }
}

static __device__ __forceinline__ bool compares(int kind)
{
    return kind >= IG_EQUAL && kind <= IG_LESS_EQUAL;
}

GPU_KERNEL(128, 4, binary_typed, ig_gpu_typed)
{
    const int i = blockIdx.x * 128 + threadIdx.x;
    if (i >= p.count) return;
    const int ia = walk(p.dims, p.a_at, p.n, i), ib = walk(p.dims, p.b_at, p.n, i), to = walk(p.dims, p.out_at, p.n, i);
    if (is_float(p.a_type) && is_float(p.b_type)) {
        const float a = get_float(p.a, p.a_type, ia), b = get_float(p.b, p.b_type, ib);
        if (compares(p.kind)) ((unsigned char *)p.out)[to] = compare(p.kind, a < b, a == b, a > b);
        else put_float(p.out, p.out_type, to, activate(p.act, rare_binary(p.kind, a, b)));
    } else if (is_float(p.a_type) || is_float(p.b_type)) {
        const double v = mixed_binary(p.kind, get_real(p.a, p.a_type, ia), get_real(p.b, p.b_type, ib));
        if (is_float(p.out_type)) put_float(p.out, p.out_type, to, activate(p.act, (float)v));
        else put_real(p.out, p.out_type, to, v);
    } else {
        const long long a = get_int(p.a, p.a_type, ia), b = get_int(p.b, p.b_type, ib);
        if (compares(p.kind)) ((unsigned char *)p.out)[to] = compare(p.kind, a < b, a == b, a > b);
        else put_int(p.out, p.out_type, to, binary_integer(p.kind, a, b));
    }
}

GPU_KERNEL(128, 8, where_typed, ig_gpu_typed)
{
    const int i = blockIdx.x * 128 + threadIdx.x;
    if (i >= p.count) return;
    const bool yes = ((const unsigned char *)p.c)[walk(p.dims, p.c_at, p.n, i)] != 0;
    const int from = yes ? walk(p.dims, p.a_at, p.n, i) : walk(p.dims, p.b_at, p.n, i);
    move(p.out, i, yes ? p.a : p.b, from, p.kind);
}
