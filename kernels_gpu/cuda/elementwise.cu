/*
 * Element by element, of any type and any broadcasting: what map.cu's vectors of floats leave over. Floats are computed
 * as floats, integers in 64 bits and wrapped.
 */
#include "kernels_gpu/cuda/element.cuh"
#include "kernels_gpu/cuda/function.cuh"

/* The kinds that no vector kernel has. */
static __device__ float rare_unary(const ig_gpu_act &act, float x)
{
    switch (act.kind) {
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

/* out[to] of an element's bits. */
static __device__ __forceinline__ void put_unary(const ig_gpu_typed &p, int to, unsigned long long bits)
{
    if (!is_float(p.a_type)) {
        put_int(p.out, p.out_type, to, unary_integer(p.act, raw_int(bits, p.a_type)));
        return;
    }
    const float x = raw_float(bits, p.a_type);
    if (p.act.kind == IG_ISNAN) ((unsigned char *)p.out)[to] = x != x;
    else if (p.act.kind == IG_ISINF)
        ((unsigned char *)p.out)[to] = (x == INFINITY && p.act.beta != 0) || (x == -INFINITY && p.act.alpha != 0);
    else put_float(p.out, p.out_type, to, rare_unary(p.act, x));
}

GPU_KERNEL(128, 4, unary_typed, ig_gpu_typed)
{
    const int first = blockIdx.x * 128 + threadIdx.x, step = gridDim.x * 128;
    unsigned long long x[IG_GPU_SOME] = {0};
    UNROLL
    for (int k = 0; k < IG_GPU_SOME; k++)
        if (first + k * step < p.count) x[k] = get_raw(p.a, p.a_type, walk(p.dims, p.a_at, p.n, first + k * step));
    /* One body of the many functions; the next element moves up. */
#pragma unroll 1
    for (int i = first, k = 0; k < IG_GPU_SOME && i < p.count; i += step, k++) {
        put_unary(p, walk(p.dims, p.out_at, p.n, i), x[0]);
        UNROLL
        for (int j = 0; j < IG_GPU_SOME - 1; j++) x[j] = x[j + 1];
    }
}

/* Integers that are one run in memory. */
template <typename T> static __device__ __forceinline__ void unary_integers(const ig_gpu_typed &p)
{
    if (p.act.kind == IG_RELU) run_of<T, T>(p.a, p.out, p.count, [](T x) { return x > 0 ? x : (T)0; });
    else run_of<T, T>(p.a, p.out, p.count, [=](T x) { return (T)unary_integer(p.act, x); });
}

GPU_KERNEL(128, 8, unary_run, ig_gpu_typed)
{
    switch (p.a_type) {
    case IG_I32: unary_integers<int32_t>(p); break;
    case IG_I64: unary_integers<int64_t>(p); break;
    case IG_I8: unary_integers<signed char>(p); break;
    default: unary_integers<unsigned char>(p);
    }
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

/* out[to] of two elements' bits. */
static __device__ __forceinline__ void put_binary(const ig_gpu_typed &p, int to, unsigned long long ra, unsigned long long rb)
{
    if (is_float(p.a_type) && is_float(p.b_type)) {
        const float a = raw_float(ra, p.a_type), b = raw_float(rb, p.b_type);
        if (compares(p.kind)) ((unsigned char *)p.out)[to] = compare(p.kind, a < b, a == b, a > b);
        else put_float(p.out, p.out_type, to, activate(p.act, rare_binary(p.kind, a, b)));
    } else if (is_float(p.a_type) || is_float(p.b_type)) {
        const double v = mixed_binary(p.kind, raw_real(ra, p.a_type), raw_real(rb, p.b_type));
        if (is_float(p.out_type)) put_float(p.out, p.out_type, to, activate(p.act, (float)v));
        else put_real(p.out, p.out_type, to, v);
    } else {
        const long long a = raw_int(ra, p.a_type), b = raw_int(rb, p.b_type);
        if (compares(p.kind)) ((unsigned char *)p.out)[to] = compare(p.kind, a < b, a == b, a > b);
        else put_int(p.out, p.out_type, to, binary_integer(p.kind, a, b));
    }
}

GPU_KERNEL(128, 4, binary_typed, ig_gpu_typed)
{
    const int first = blockIdx.x * 128 + threadIdx.x, step = gridDim.x * 128;
    unsigned long long a[IG_GPU_SOME] = {0}, b[IG_GPU_SOME] = {0};
    UNROLL
    for (int k = 0; k < IG_GPU_SOME; k++) {
        const int i = first + k * step;
        if (i >= p.count) continue;
        const int2 at = walk_two(p.dims, p.a_at, p.b_at, p.n, i);
        a[k] = get_raw(p.a, p.a_type, at.x);
        b[k] = get_raw(p.b, p.b_type, at.y);
    }
    /* One body of the many operators; the next element moves up. */
#pragma unroll 1
    for (int i = first, k = 0; k < IG_GPU_SOME && i < p.count; i += step, k++) {
        put_binary(p, walk(p.dims, p.out_at, p.n, i), a[0], b[0]);
        UNROLL
        for (int j = 0; j < IG_GPU_SOME - 1; j++) a[j] = a[j + 1], b[j] = b[j + 1];
    }
}

/* --- two operands of integers, each one run in memory or one number --- */

template <typename T> static __device__ __forceinline__ quad_of<T> run_operand(const void *p, int step, int i, int n)
{
    quad_of<T> v;
    if (step) return load_quad((const T *)p + i, n);
    UNROLL
    for (int j = 0; j < 4; j++) v.x[j] = *(const T *)p;
    return v;
}

template <typename T, typename F> static __device__ __forceinline__ void run_of_two(const ig_gpu_typed &p, F f)
{
    const int first = blockIdx.x * 128 + threadIdx.x, step = gridDim.x * 128, quads = (p.count + 3) / 4;
    quad_of<T> a[IG_GPU_SOME] = {}, b[IG_GPU_SOME] = {};
    UNROLL
    for (int k = 0; k < IG_GPU_SOME; k++) {
        const int i = first + k * step;
        if (i >= quads) continue;
        a[k] = run_operand<T>(p.a, p.a_at[0], i * 4, p.count - i * 4);
        b[k] = run_operand<T>(p.b, p.b_at[0], i * 4, p.count - i * 4);
    }
    UNROLL
    for (int k = 0; k < IG_GPU_SOME; k++) {
        const int i = first + k * step;
        if (i >= quads) continue;
        UNROLL
        for (int j = 0; j < 4; j++) a[k].x[j] = f(a[k].x[j], b[k].x[j]);
        store_quad((T *)p.out + i * 4, a[k], p.count - i * 4);
    }
}

/* U: T without a sign, which wraps. */
template <typename T, typename U> static __device__ __forceinline__ void binary_integers(const ig_gpu_typed &p)
{
    switch (p.kind) {
    case IG_ADD: run_of_two<T>(p, [](T a, T b) { return (T)((U)a + (U)b); }); break;
    case IG_SUB: run_of_two<T>(p, [](T a, T b) { return (T)((U)a - (U)b); }); break;
    case IG_MUL: run_of_two<T>(p, [](T a, T b) { return (T)((U)a * (U)b); }); break;
    case IG_MAX: run_of_two<T>(p, [](T a, T b) { return a > b ? a : b; }); break;
    default: run_of_two<T>(p, [](T a, T b) { return a < b ? a : b; }); /* IG_MIN */
    }
}

GPU_KERNEL(128, 4, binary_run, ig_gpu_typed)
{
    if (p.a_type == IG_I32) binary_integers<int32_t, uint32_t>(p);
    else binary_integers<int64_t, uint64_t>(p);
}

/* Elements of T from either operand, read together. */
template <typename T>
static __device__ __forceinline__ void choose(const ig_gpu_typed &p, const unsigned char (&yes)[IG_GPU_SOME], const int (&from)[IG_GPU_SOME])
{
    const int first = blockIdx.x * 128 + threadIdx.x, step = gridDim.x * 128;
    T v[IG_GPU_SOME];
    UNROLL
    for (int k = 0; k < IG_GPU_SOME; k++)
        if (first + k * step < p.count) v[k] = ((const T *)(yes[k] ? p.a : p.b))[from[k]];
    UNROLL
    for (int k = 0; k < IG_GPU_SOME; k++)
        if (first + k * step < p.count) ((T *)p.out)[first + k * step] = v[k];
}

GPU_KERNEL(128, 8, where_typed, ig_gpu_typed)
{
    const int first = blockIdx.x * 128 + threadIdx.x, step = gridDim.x * 128;
    unsigned char yes[IG_GPU_SOME];
    int from[IG_GPU_SOME];
    UNROLL
    for (int k = 0; k < IG_GPU_SOME; k++)
        if (first + k * step < p.count) yes[k] = ((const unsigned char *)p.c)[walk(p.dims, p.c_at, p.n, first + k * step)];
    UNROLL
    for (int k = 0; k < IG_GPU_SOME; k++)
        if (first + k * step < p.count) from[k] = yes[k] ? walk(p.dims, p.a_at, p.n, first + k * step) : walk(p.dims, p.b_at, p.n, first + k * step);
    switch (p.kind) {
    case 1: choose<unsigned char>(p, yes, from); break;
    case 2: choose<uint16_t>(p, yes, from); break;
    case 4: choose<uint32_t>(p, yes, from); break;
    default: choose<uint64_t>(p, yes, from);
    }
}

/* Up to four conditions from p on, the rest false. One word, which is not taken apart before others are under way. */
static __device__ __forceinline__ uint32_t load_conditions(const unsigned char *p, int n)
{
    uint32_t word = 0;
    if (n >= 4) {
        IS_ALIGNED(p, 4);
        return *(const uint32_t *)p;
    }
    UNROLL
    for (int j = 0; j < 3; j++)
        if (j < n) word |= (uint32_t)p[j] << (8 * j);
    return word;
}

static __device__ __forceinline__ bool any_false(uint32_t word)
{
    return (word - 0x01010101u) & ~word & 0x80808080u;
}

/* Elements of four bytes, operands that are one run or one number, a condition that is a run: quads that no condition names are
 * not read. */
GPU_KERNEL(128, 8, where_run, ig_gpu_typed)
{
    const int first = blockIdx.x * 128 + threadIdx.x, step = gridDim.x * 128, quads = (p.count + 3) / 4;
    uint32_t yes[IG_GPU_SOME] = {0};
    quad_of<uint32_t> a[IG_GPU_SOME] = {}, b[IG_GPU_SOME] = {};
    UNROLL
    for (int k = 0; k < IG_GPU_SOME; k++) {
        const int i = first + k * step;
        if (i < quads) yes[k] = load_conditions((const unsigned char *)p.c + i * 4, p.count - i * 4);
    }
    UNROLL
    for (int k = 0; k < IG_GPU_SOME; k++) {
        const int i = first + k * step;
        if (i >= quads) continue;
        if (yes[k]) a[k] = run_operand<uint32_t>(p.a, p.a_at[0], i * 4, p.count - i * 4);
        if (any_false(yes[k])) b[k] = run_operand<uint32_t>(p.b, p.b_at[0], i * 4, p.count - i * 4);
    }
    UNROLL
    for (int k = 0; k < IG_GPU_SOME; k++) {
        const int i = first + k * step;
        if (i >= quads) continue;
        UNROLL
        for (int j = 0; j < 4; j++) a[k].x[j] = yes[k] >> (8 * j) & 255 ? a[k].x[j] : b[k].x[j];
        store_quad((uint32_t *)p.out + i * 4, a[k], p.count - i * 4);
    }
}
