/* Elements of any type: how kernels that serve many types read, write and order them; and where a walk is. */
#ifndef KERNELS_GPU_CUDA_ELEMENT_CUH
#define KERNELS_GPU_CUDA_ELEMENT_CUH

#include "graph/tensor.h"
#include "kernels_gpu/cuda/cuda.cuh"
#include "kernels_gpu/params_tensor.h"

static __device__ __forceinline__ bool is_float(int type)
{
    return type == IG_F32 || type == IG_F16;
}

/* Element i of f32 or f16 data. */
static __device__ __forceinline__ float get_float(const void *p, int type, int i)
{
    return type == IG_F16 ? half_float(((const uint16_t *)p)[i]) : ((const float *)p)[i];
}

static __device__ __forceinline__ void put_float(void *p, int type, int i, float v)
{
    if (type == IG_F16) ((uint16_t *)p)[i] = float_half(v);
    else ((float *)p)[i] = v;
}

/* A sum of products as a float: act(sum (x_scale w_scale) + bias), each step rounded; w_scale, of one channel or all, and bias may be NULL. */
static __device__ __forceinline__ float scaled_sum(int sum, const float *x_scale, const float *w_scale, int scales, const float *bias, int channel,
                                                   const ig_gpu_act &act)
{
    const float scale = w_scale ? x_scale[0] * w_scale[scales > 1 ? channel : 0] : x_scale[0], y = (float)sum * scale;
    return activate(act, bias ? y + bias[channel] : y);
}

/* Toward zero; NaN gives 0. */
static __device__ __forceinline__ long long truncated(double v)
{
    if (v != v) return 0;
    if (v >= 9223372036854775808.0) return 0x7fffffffffffffffLL;
    return v < -9223372036854775808.0 ? -0x7fffffffffffffffLL - 1 : (long long)v;
}

/* The same of a float. */
static __device__ __forceinline__ long long truncated(float v)
{
    if (v != v) return 0;
    if (v >= 9223372036854775808.0f) return 0x7fffffffffffffffLL;
    return v < -9223372036854775808.0f ? -0x7fffffffffffffffLL - 1 : (long long)v;
}

static __device__ __forceinline__ long long get_int(const void *p, int type, int i)
{
    switch (type) {
    case IG_I32: return ((const int32_t *)p)[i];
    case IG_I64: return ((const int64_t *)p)[i];
    case IG_I8: return ((const signed char *)p)[i];
    case IG_F32:
    case IG_F16: return truncated(get_float(p, type, i));
    default: return ((const unsigned char *)p)[i];
    }
}

/* The bits of element i: reading them is apart from what they mean, so that several reads are under way together. */
static __device__ __forceinline__ unsigned long long get_raw(const void *p, int type, int i)
{
    switch (type) {
    case IG_F32:
    case IG_I32: return ((const uint32_t *)p)[i];
    case IG_I64: return ((const uint64_t *)p)[i];
    case IG_F16: return ((const uint16_t *)p)[i];
    default: return ((const unsigned char *)p)[i];
    }
}

/* Of f32 or f16. */
static __device__ __forceinline__ float raw_float(unsigned long long bits, int type)
{
    return type == IG_F16 ? half_float((uint16_t)bits) : __uint_as_float((unsigned)bits);
}

static __device__ __forceinline__ long long raw_int(unsigned long long bits, int type)
{
    switch (type) {
    case IG_I32: return (int32_t)bits;
    case IG_I64: return (long long)bits;
    case IG_I8: return (signed char)bits;
    case IG_F32:
    case IG_F16: return truncated(raw_float(bits, type));
    default: return (long long)bits;
    }
}

static __device__ __forceinline__ double raw_real(unsigned long long bits, int type)
{
    return is_float(type) ? (double)raw_float(bits, type) : (double)raw_int(bits, type);
}

/* Wraps to the type's width. */
static __device__ __forceinline__ void put_int(void *p, int type, int i, long long v)
{
    switch (type) {
    case IG_I32: ((int32_t *)p)[i] = (int32_t)v; break;
    case IG_I64: ((int64_t *)p)[i] = v; break;
    case IG_BOOL: ((unsigned char *)p)[i] = v != 0; break;
    case IG_F32:
    case IG_F16: put_float(p, type, i, (float)v); break;
    default: ((unsigned char *)p)[i] = (unsigned char)v;
    }
}

static __device__ __forceinline__ double get_real(const void *p, int type, int i)
{
    return is_float(type) ? (double)get_float(p, type, i) : (double)get_int(p, type, i);
}

static __device__ __forceinline__ void put_real(void *p, int type, int i, double v)
{
    if (is_float(type)) put_float(p, type, i, (float)v);
    else put_int(p, type, i, truncated(v));
}

/* Four elements side by side, of which memory is asked at once. */
template <typename T> struct alignas(sizeof(T) < 4 ? 4 * sizeof(T) : 16) quad_of {
    T x[4];
};

/* Those of four elements from p on that there are, the rest 0. */
template <typename T> static __device__ __forceinline__ quad_of<T> load_quad(const T *p, int n)
{
    quad_of<T> v;
    if (n >= 4) {
        IS_ALIGNED(p, alignof(quad_of<T>));
        return *(const quad_of<T> *)p;
    }
    UNROLL
    for (int j = 0; j < 4; j++) v.x[j] = j < n ? p[j] : (T)0;
    return v;
}

template <typename T> static __device__ __forceinline__ void store_quad(T *p, const quad_of<T> &v, int n)
{
    if (n >= 4) {
        IS_ALIGNED(p, alignof(quad_of<T>));
        *(quad_of<T> *)p = v;
        return;
    }
    UNROLL
    for (int j = 0; j < 3; j++)
        if (j < n) p[j] = v.x[j];
}

/* W floats side by side, of which memory is asked at once. */
template <int W> struct alignas(4 * W) vec {
    float x[W];
};

template <int W> static __device__ __forceinline__ vec<W> load_vec(const float *p)
{
    IS_ALIGNED(p, 4 * W);
    return *(const vec<W> *)p;
}

template <int W> static __device__ __forceinline__ void store_vec(float *p, const vec<W> &v)
{
    IS_ALIGNED(p, 4 * W);
    *(vec<W> *)p = v;
}

/* f of each of what is one run in memory: up to four quads a thread, read together; one body, the next quad moves up. */
template <typename IN, typename OUT, typename F>
static __device__ __forceinline__ void run_of(const void *in, void *out, int count, F f)
{
    const int first = blockIdx.x * 128 + threadIdx.x, step = gridDim.x * 128, quads = (count + 3) / 4;
    quad_of<IN> v[IG_GPU_SOME] = {};
    UNROLL
    for (int k = 0; k < IG_GPU_SOME; k++)
        if (first + k * step < quads) v[k] = load_quad((const IN *)in + (first + k * step) * 4, count - (first + k * step) * 4);
#pragma unroll 1
    for (int i = first, k = 0; k < IG_GPU_SOME && i < quads; i += step, k++) {
        quad_of<OUT> to;
        UNROLL
        for (int j = 0; j < 4; j++) to.x[j] = f(v[0].x[j]);
        store_quad((OUT *)out + i * 4, to, count - i * 4);
        UNROLL
        for (int j = 0; j < IG_GPU_SOME - 1; j++) v[j] = v[j + 1];
    }
}

/* out[to] = in[from], elements of 1, 2, 4, 8 or 16 bytes. */
static __device__ __forceinline__ void move(void *out, int to, const void *in, int from, int bytes)
{
    switch (bytes) {
    case 1: ((unsigned char *)out)[to] = ((const unsigned char *)in)[from]; break;
    case 2: ((uint16_t *)out)[to] = ((const uint16_t *)in)[from]; break;
    case 4: ((uint32_t *)out)[to] = ((const uint32_t *)in)[from]; break;
    case 8: ((uint64_t *)out)[to] = ((const uint64_t *)in)[from]; break;
    default: store4((float *)out + to * 4LL, load4((const float *)in + from * 4LL));
    }
}

/* out[to] = an element of these bits, of 16 bytes of them twice. */
static __device__ __forceinline__ void put_bits(void *out, int to, const uint32_t (&bits)[2], int bytes)
{
    switch (bytes) {
    case 1: ((unsigned char *)out)[to] = (unsigned char)bits[0]; break;
    case 2: ((uint16_t *)out)[to] = (uint16_t)bits[0]; break;
    case 4: ((uint32_t *)out)[to] = bits[0]; break;
    case 8: ((uint64_t *)out)[to] = bits[0] | (uint64_t)bits[1] << 32; break;
    default: {
        const float low = __uint_as_float(bits[0]), high = __uint_as_float(bits[1]);
        store4((float *)out + to * 4LL, make_float4(low, high, low, high));
    }
    }
}

/* 1, 0 or -1: element i comes before, with or after j; a NaN is above every number. */
static __device__ __forceinline__ int order_of(const void *p, int type, int i, int j)
{
    if (type == IG_F32) {
        const float a = ((const float *)p)[i], b = ((const float *)p)[j];
        if (a != a || b != b) return (a != a) - (b != b);
        return (a > b) - (a < b);
    }
    const long long a = get_int(p, type, i), b = get_int(p, type, j);
    return (a > b) - (a < b);
}

/* An index into an axis of n elements; negative ones count from its end, and one outside becomes its nearest. */
static __device__ __forceinline__ int get_index(const void *p, int type, int i, int n)
{
    long long v = type == IG_I32 ? (long long)((const int32_t *)p)[i] : (long long)((const int64_t *)p)[i];
    v = v < 0 ? v + n : v;
    return v < 0 ? 0 : v < n ? (int)v : n - 1;
}

/* i / d as a product: launch/loops.h. */
static __device__ __forceinline__ int divided(int i, uint32_t by, uint32_t shift)
{
    return by ? (int)(__umulhi((unsigned)i, by) >> shift) : i;
}

/* Loops [from, from + n) of a walk: the offset of visit i. */
template <int N>
static __device__ __forceinline__ int walk_part(const int32_t (&dims)[N], const int32_t (&at)[N], int from, int n, int i)
{
    int place = 0;
    for (int d = from + n - 1; d > from; d--) {
        const int q = i / dims[d];
        place += (i - q * dims[d]) * at[d];
        i = q;
    }
    return n > 0 ? place + i * at[from] : 0;
}

/* The offsets of visit i in two tensors. */
template <int N>
static __device__ __forceinline__ int2 walk_two(const int32_t (&dims)[N], const int32_t (&a)[N], const int32_t (&b)[N], int n, int i)
{
    int2 place = make_int2(0, 0);
    for (int d = n - 1; d > 0; d--) {
        const int q = i / dims[d], x = i - q * dims[d];
        place.x += x * a[d];
        place.y += x * b[d];
        i = q;
    }
    return n > 0 ? make_int2(place.x + i * a[0], place.y + i * b[0]) : place;
}

template <int N> static __device__ __forceinline__ int walk(const int32_t (&dims)[N], const int32_t (&at)[N], int n, int i)
{
    return walk_part(dims, at, 0, n, i);
}

#endif
