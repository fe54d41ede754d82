/*
 * Conversions: between any two types (real to integer toward zero, integers wrapped, all but zero true), and to and from
 * quantised numbers, y = saturate(round half to even(x / scale) + zero).
 */
#include "kernels_gpu/cuda/bytes.cuh"

GPU_KERNEL(128, 8, cast_typed, ig_gpu_typed)
{
    const int first = blockIdx.x * 128 + threadIdx.x, step = gridDim.x * 128;
    unsigned long long x[IG_GPU_SOME];
    int to[IG_GPU_SOME];
    UNROLL
    for (int k = 0; k < IG_GPU_SOME; k++) {
        if (first + k * step >= p.count) continue;
        const int2 at = walk_two(p.dims, p.a_at, p.out_at, p.n, first + k * step);
        x[k] = get_raw(p.a, p.a_type, at.x);
        to[k] = at.y;
    }
    UNROLL
    for (int k = 0; k < IG_GPU_SOME; k++) {
        if (first + k * step >= p.count) continue;
        if (!is_float(p.a_type)) put_int(p.out, p.out_type, to[k], raw_int(x[k], p.a_type));
        else if (p.out_type == IG_BOOL) ((unsigned char *)p.out)[to[k]] = raw_float(x[k], p.a_type) != 0;
        else put_real(p.out, p.out_type, to[k], raw_float(x[k], p.a_type));
    }
}

/* --- one run in memory: types are known where elements are --- */

static __device__ __forceinline__ long long whole(float v)
{
    return truncated(v);
}

static __device__ __forceinline__ int32_t whole(int32_t v)
{
    return v;
}

static __device__ __forceinline__ int64_t whole(int64_t v)
{
    return v;
}

/* Elements of IN, each a float or an integer by `value`. */
template <typename IN, typename F> static __device__ __forceinline__ void cast_from(const ig_gpu_typed &p, F value)
{
    switch (p.out_type) {
    case IG_F32: run_of<IN, float>(p.a, p.out, p.count, [=](IN x) { return (float)value(x); }); break;
    case IG_F16: run_of<IN, uint16_t>(p.a, p.out, p.count, [=](IN x) { return float_half((float)value(x)); }); break;
    case IG_I32: run_of<IN, int32_t>(p.a, p.out, p.count, [=](IN x) { return (int32_t)whole(value(x)); }); break;
    case IG_I64: run_of<IN, int64_t>(p.a, p.out, p.count, [=](IN x) { return (int64_t)whole(value(x)); }); break;
    default: run_of<IN, unsigned char>(p.a, p.out, p.count, [=](IN x) { return (unsigned char)whole(value(x)); });
    }
}

GPU_KERNEL(128, 8, cast_run, ig_gpu_typed)
{
    switch (p.a_type) {
    case IG_F32: cast_from<float>(p, [](float x) { return x; }); break;
    case IG_F16: cast_from<uint16_t>(p, [](uint16_t x) { return half_float(x); }); break;
    case IG_I32: cast_from<int32_t>(p, [](int32_t x) { return x; }); break;
    case IG_I64: cast_from<int64_t>(p, [](int64_t x) { return x; }); break;
    case IG_I8: cast_from<signed char>(p, [](signed char x) { return (int32_t)x; }); break;
    default: cast_from<unsigned char>(p, [](unsigned char x) { return (int32_t)x; });
    }
}

/* Index of a parameter of n elements for element i of the data. */
static __device__ __forceinline__ int parameter_at(int n, int inner, int i)
{
    return n > 1 ? i / inner % n : 0;
}

static __device__ __forceinline__ float scale_at(const ig_gpu_quantize &p, int i)
{
    return ((const float *)p.scale)[parameter_at(p.scale_n, p.inner, i)];
}

static __device__ __forceinline__ double zero_at(const ig_gpu_quantize &p, int i)
{
    return p.zero ? get_real(p.zero, p.zero_type, parameter_at(p.zero_n, p.inner, i)) : 0;
}

/* By a zero of one byte floats are exact: what is rounded is cut to where it may lie before the zero is added. */
static __device__ __forceinline__ int quantized(float x, float scale, int zero, int low)
{
    const float r = rintf(x / scale), least = (float)(low - zero), most = (float)(low + 255 - zero);
    return (int)(r > least ? r > most ? most : r : least) + zero;
}

/* A zero of any type. */
static __device__ __forceinline__ int quantized_wide(float x, float scale, double zero, int low)
{
    const double y = rintf(x / scale) + zero;
    return (int)(y > low ? y > low + 255 ? low + 255 : y : low);
}

GPU_KERNEL(128, 8, quantize_typed, ig_gpu_quantize)
{
    const int first = blockIdx.x * 128 + threadIdx.x, step = gridDim.x * 128, low = p.out_type == IG_I8 ? -128 : 0;
    const bool narrow = !p.zero || p.zero_type == IG_U8 || p.zero_type == IG_I8, one = p.scale_n == 1 && p.zero_n == 1;
    float scale = scale_at(p, 0);
    double zero = zero_at(p, 0);
    unsigned long long x[IG_GPU_SOME];
    UNROLL
    for (int k = 0; k < IG_GPU_SOME; k++)
        if (first + k * step < p.count) x[k] = get_raw(p.in, p.in_type, first + k * step);
    UNROLL
    for (int k = 0; k < IG_GPU_SOME; k++) {
        const int i = first + k * step;
        if (i >= p.count) continue;
        const float v = is_float(p.in_type) ? raw_float(x[k], p.in_type) : (float)raw_int(x[k], p.in_type);
        if (!one) scale = scale_at(p, i), zero = zero_at(p, i);
        ((unsigned char *)p.out)[i] = (unsigned char)(narrow ? quantized(v, scale, (int)zero, low) : quantized_wide(v, scale, zero, low));
    }
}

GPU_KERNEL(128, 8, dequantize_typed, ig_gpu_quantize)
{
    const int first = blockIdx.x * 128 + threadIdx.x, step = gridDim.x * 128;
    const bool one = p.scale_n == 1 && p.zero_n == 1;
    float scale = scale_at(p, 0);
    double zero = zero_at(p, 0);
    unsigned long long x[IG_GPU_SOME];
    UNROLL
    for (int k = 0; k < IG_GPU_SOME; k++)
        if (first + k * step < p.count) x[k] = get_raw(p.in, p.in_type, first + k * step);
    UNROLL
    for (int k = 0; k < IG_GPU_SOME; k++) {
        const int i = first + k * step;
        if (i >= p.count) continue;
        if (!one) scale = scale_at(p, i), zero = zero_at(p, i);
        ((float *)p.out)[i] = (float)((raw_real(x[k], p.in_type) - zero) * scale);
    }
}

/* One run, one scale, and one zero of one byte: differences are exact, as are their products before they are rounded. */
static __device__ __forceinline__ int zero_byte(const ig_gpu_quantize &p)
{
    return p.zero ? zero_byte_of(p.zero, p.zero_type) : 0;
}

/*
 * x / scale of an ordinary scale, by = 1 / scale as it is rounded: the second correction gives what division gives (Markstein
 * 1990) where quotients are not much less than one and no more than some hundreds.
 */
static __device__ __forceinline__ float ratio(float x, float scale, float by)
{
    float q = x * by;
    q = fmaf(fmaf(-q, scale, x), by, q);
    return fmaf(fmaf(-q, scale, x), by, q);
}

/* What is divided is cut to where quotients fit, NaN to the least; the sum with 1.5 2^23 ends in the whole number, half to even. */
GPU_KERNEL(128, 8, quantize_run, ig_gpu_quantize)
{
    const float scale = *(const float *)p.scale, by = 1 / scale;
    const int zero = zero_byte(p), low = p.out_type == IG_I8 ? -128 : 0;
    const float least = (float)(low - zero) * scale, most = (float)(low + 255 - zero) * scale;
    const bool ordinary = scale > 1e-20f && scale < 1e20f;
    run_of<float, unsigned char>(p.in, p.out, p.count, [=](float x) {
        if (!ordinary) return (unsigned char)quantized(x, scale, zero, low);
        const float cut = x > least ? x > most ? most : x : least;
        return (unsigned char)(__float_as_uint(ratio(cut, scale, by) + 12582912.0f) + (unsigned)zero);
    });
}

GPU_KERNEL(128, 8, dequantize_run, ig_gpu_quantize)
{
    const float scale = *(const float *)p.scale;
    const int zero = zero_byte(p);
    if (p.in_type == IG_I8) run_of<signed char, float>(p.in, p.out, p.count, [=](signed char x) { return (float)(x - zero) * scale; });
    else run_of<unsigned char, float>(p.in, p.out, p.count, [=](unsigned char x) { return (float)(x - zero) * scale; });
}

/* --- sums and products of quantised operands --- */

struct qlinear {
    float a, b, k, product; /* what kernels_cpu/ref/quant_binary.c says */
    int a_zero, b_zero;
    byte_ends ends;
};

static __device__ __forceinline__ qlinear qlinear_of(const ig_gpu_qlinear_binary &p)
{
    const int a_zero = zero_byte_of(p.a_zero, p.a_type), b_zero = zero_byte_of(p.b_zero, p.b_type);
    const float a = *p.a_scale / *p.y_scale, b = *p.b_scale / *p.y_scale;
    const qlinear q = {a, b, -((float)a_zero * a + (float)b_zero * b), *p.a_scale * *p.b_scale / *p.y_scale,
                       a_zero, b_zero, byte_ends_of(p.y_zero, p.zero_type, p.low, p.high)};
    return q;
}

static __device__ __forceinline__ unsigned char qlinear_byte(const ig_gpu_qlinear_binary &p, const qlinear &q, int a, int b)
{
    return q.ends.of(p.kind == IG_ADD ? fmaf((float)a, q.a, fmaf((float)b, q.b, q.k)) : (float)((a - q.a_zero) * (b - q.b_zero)) * q.product);
}

/* Where visit i of the loops is in both operands and the output. */
struct qlinear_place {
    int a, b, out;
};

static __device__ __forceinline__ qlinear_place qlinear_at(const ig_gpu_qlinear_binary &p, int i)
{
    qlinear_place at = {0, 0, 0};
    for (int d = p.n - 1; d >= 0; d--) {
        const int q = d == 0 ? 0 : d == p.n - 1 ? divided(i, p.by, p.shift) : i / p.dims[d], x = i - q * p.dims[d];
        at.a += x * p.a_at[d], at.b += x * p.b_at[d], at.out += x * p.out_at[d];
        i = q;
    }
    return at;
}

GPU_KERNEL(128, 8, qlinear_typed, ig_gpu_qlinear_binary)
{
    const int first = blockIdx.x * 128 + threadIdx.x, step = gridDim.x * 128;
    const qlinear q = qlinear_of(p);
    for (int k = 0; k < IG_GPU_SOME; k++) {
        const int i = first + k * step;
        if (i >= p.count) return;
        const qlinear_place at = qlinear_at(p, i);
        ((unsigned char *)p.out)[at.out] = qlinear_byte(p, q, (int)get_int(p.a, p.a_type, at.a), (int)get_int(p.b, p.b_type, at.b));
    }
}

static __device__ __forceinline__ int byte_of(unsigned char x, int type)
{
    return type == IG_I8 ? (signed char)x : x;
}

/* Visits are words of four channels, of which memory is asked together: slices, and a second operand that is one pixel of each image. */
GPU_KERNEL(128, 8, qlinear_words, ig_gpu_qlinear_binary)
{
    const int first = blockIdx.x * 128 + threadIdx.x, step = gridDim.x * 128;
    const qlinear q = qlinear_of(p);
    unsigned a[IG_GPU_SOME] = {}, b[IG_GPU_SOME] = {};
    int out[IG_GPU_SOME] = {};
    UNROLL
    for (int k = 0; k < IG_GPU_SOME; k++) {
        if (first + k * step >= p.count) continue;
        const qlinear_place at = qlinear_at(p, first + k * step);
        a[k] = bytes_of<true>((const uint8_t *)p.a + at.a, 4);
        b[k] = bytes_of<true>((const uint8_t *)p.b + at.b, 4);
        out[k] = at.out;
    }
#pragma unroll 1
    for (int i = first, k = 0; k < IG_GPU_SOME && i < p.count; i += step, k++) {
        unsigned to = 0;
        UNROLL
        for (int j = 0; j < 32; j += 8)
            to |= (unsigned)qlinear_byte(p, q, byte_of((uint8_t)(a[0] >> j), p.a_type), byte_of((uint8_t)(b[0] >> j), p.b_type)) << j;
        put_bytes<true>((uint8_t *)p.out + out[0], to, 4);
        UNROLL
        for (int j = 0; j < IG_GPU_SOME - 1; j++) a[j] = a[j + 1], b[j] = b[j + 1], out[j] = out[j + 1];
    }
}

/* One run in memory: four elements at a time, up to four times, which are read together. */
GPU_KERNEL(128, 8, qlinear_run, ig_gpu_qlinear_binary)
{
    const int first = blockIdx.x * 128 + threadIdx.x, step = gridDim.x * 128, quads = (p.count + 3) / 4;
    const qlinear q = qlinear_of(p);
    quad_of<unsigned char> a[IG_GPU_SOME] = {}, b[IG_GPU_SOME] = {};
    UNROLL
    for (int k = 0; k < IG_GPU_SOME; k++) {
        const int i = (first + k * step) * 4;
        if (i >= p.count) continue;
        a[k] = load_quad((const unsigned char *)p.a + i, p.count - i);
        b[k] = load_quad((const unsigned char *)p.b + i, p.count - i);
    }
#pragma unroll 1
    for (int i = first, k = 0; k < IG_GPU_SOME && i < quads; i += step, k++) {
        quad_of<unsigned char> to;
        UNROLL
        for (int j = 0; j < 4; j++) to.x[j] = qlinear_byte(p, q, byte_of(a[0].x[j], p.a_type), byte_of(b[0].x[j], p.b_type));
        store_quad((unsigned char *)p.out + i * 4, to, p.count - i * 4);
        UNROLL
        for (int j = 0; j < IG_GPU_SOME - 1; j++) a[j] = a[j + 1], b[j] = b[j + 1];
    }
}

/* --- what is linear, channel by channel --- */

/* Four channels of up to four pixels, whose factors are read once; x of i8 are 128 more than they are until they are floats. */
template <bool WORDS> static __device__ __forceinline__ void affine(const ig_gpu_qlinear_affine &p)
{
    const int i = blockIdx.x * 128 + threadIdx.x, first = divided(i, p.by, p.shift), channel = (i - first * p.quads) * 4, n = p.c - channel;
    if (first >= p.step) return;
    unsigned x[IG_GPU_SOME] = {};
    UNROLL
    for (int k = 0; k < IG_GPU_SOME; k++) {
        const int m = first + k * p.step, row = p.w < p.pixels ? m / p.w : 0;
        if (m < p.pixels) x[k] = bytes_of<WORDS>((const uint8_t *)p.x + (row * p.x_row + (m - row * p.w) * p.x_pixel + channel), n) ^ flip_of(p.type);
    }
    const float4 scale = load_upto4<WORDS>(p.scale + channel, n), offset = load_upto4<WORDS>(p.offset + channel, n);
    const byte_ends ends = byte_ends_of(p.zero, p.zero_type, p.low, p.high);
    const int more = p.type == IG_I8 ? 128 : 0;
    UNROLL
    for (int k = 0; k < IG_GPU_SOME; k++) {
        const int m = first + k * p.step, row = p.w < p.pixels ? m / p.w : 0;
        if (m >= p.pixels) return;
        const unsigned a = ends.of(fmaf((float)((int)(x[k] & 255) - more), scale.x, offset.x));
        const unsigned b = ends.of(fmaf((float)((int)(x[k] >> 8 & 255) - more), scale.y, offset.y));
        const unsigned c = ends.of(fmaf((float)((int)(x[k] >> 16 & 255) - more), scale.z, offset.z));
        const unsigned d = ends.of(fmaf((float)((int)(x[k] >> 24) - more), scale.w, offset.w));
        put_bytes<WORDS>((uint8_t *)p.out + (row * p.out_row + (m - row * p.w) * p.out_pixel + channel), a | b << 8 | c << 16 | d << 24, n);
    }
}

GPU_KERNEL(128, 8, qlinear_affine4, ig_gpu_qlinear_affine)
{
    affine<true>(p);
}

GPU_KERNEL(128, 8, qlinear_affine_any, ig_gpu_qlinear_affine)
{
    affine<false>(p);
}

/* --- by a table: any function of one quantised tensor --- */

GPU_KERNEL(128, 8, lookup_typed, ig_gpu_typed)
{
    SHARED(unsigned, table, [64]);
    const int me = threadIdx.x, first = blockIdx.x * 128 + me, step = gridDim.x * 128;
    const unsigned char *from = (const unsigned char *)p.b + 4 * me, *of = (const unsigned char *)&table[0];
    if (me < 64) table[me] = from[0] | (unsigned)from[1] << 8 | (unsigned)from[2] << 16 | (unsigned)from[3] << 24;
    __syncthreads();
    for (int k = 0; k < IG_GPU_SOME; k++) {
        const int i = first + k * step;
        if (i >= p.count) return;
        const int2 at = walk_two(p.dims, p.a_at, p.out_at, p.n, i);
        ((unsigned char *)p.out)[at.y] = of[((const unsigned char *)p.a)[at.x]];
    }
}

/* One run in memory. Of the table's 64 words two are in a bank, whatever bytes lanes look up. */
GPU_KERNEL(128, 8, lookup_run, ig_gpu_typed)
{
    SHARED(unsigned, table, [64]);
    if (threadIdx.x < 64) table[threadIdx.x] = ((const unsigned *)p.b)[threadIdx.x];
    __syncthreads();
    const unsigned char *of = (const unsigned char *)&table[0];
    run_of<unsigned char, unsigned char>(p.a, p.out, p.count, [=](unsigned char x) { return of[x]; });
}

/* --- by a scale that is found --- */

/* Half to even, saturated; NaN: 0. */
static __device__ __forceinline__ unsigned char to_byte(float x, float zero)
{
    const float y = rintf(x) + zero;
    return (unsigned char)(y > 255 ? 255 : y > 0 ? (int)y : 0);
}

/* The least and the largest of x[a], ..., x[b - 1] and 0, by a block: least[0], most[0]. */
static __device__ __forceinline__ void block_extremes(const float *x, int a, int b, float *least, float *most)
{
    const int me = threadIdx.x;
    float low = 0, high = 0;
    for (int i = a + me; i < b; i += 256) {
        low = x[i] < low ? x[i] : low;
        high = x[i] > high ? x[i] : high;
    }
    least[me] = low;
    most[me] = high;
    __syncthreads();
    for (int half = 128; half; half >>= 1) {
        if (me < half) {
            least[me] = fminf(least[me], least[me + half]);
            most[me] = fmaxf(most[me], most[me + half]);
        }
        __syncthreads();
    }
}

/* Of part blockIdx.x of p.inner. */
GPU_KERNEL(256, 2, extremes, ig_gpu_quantize)
{
    SHARED(float, least, [256]);
    SHARED(float, most, [256]);
    const long long part = (p.count + p.inner - 1) / p.inner, first = blockIdx.x * part, end = first + part;
    block_extremes((const float *)p.in, (int)(first < p.count ? first : p.count), (int)(end < p.count ? end : p.count), &least[0], &most[0]);
    if (threadIdx.x) return;
    ((float *)p.out)[2 * blockIdx.x] = least[0];
    ((float *)p.out)[2 * blockIdx.x + 1] = most[0];
}

/* Scale and zero of what is to be quantised, by one block. */
GPU_KERNEL(256, 2, quantize_range, ig_gpu_quantize)
{
    SHARED(float, least, [256]);
    SHARED(float, most, [256]);
    block_extremes((const float *)p.in, 0, p.count, &least[0], &most[0]);
    if (threadIdx.x) return;
    const float scale = most[0] > least[0] ? (most[0] - least[0]) / 255 : 1;
    const unsigned char zero = to_byte(-least[0] / scale, 0);
    p.found[0] = scale;
    p.found[1] = zero;
    if (p.scale_out) *(float *)p.scale_out = scale;
    if (p.zero_out) *(unsigned char *)p.zero_out = zero;
}

GPU_KERNEL(128, 8, quantize_found, ig_gpu_quantize)
{
    const int i = blockIdx.x * 128 + threadIdx.x;
    if (i < p.count) ((unsigned char *)p.out)[i] = to_byte(((const float *)p.in)[i] / p.found[0], p.found[1]);
}
