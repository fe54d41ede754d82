/*
 * Sliding windows of any kind, a thread per output: convolution and transposed convolution with up to three spatial dims,
 * weights that are made at run time, halves, or quantised operands; every pooling; normalisation across channels. What
 * conv.cu, depthwise.cu and pool.cu can compute, they compute better.
 */
#include "kernels_gpu/cuda/element.cuh"

/* Input position of tap k of output position o along axis a; -1: none. */
static __device__ __forceinline__ int tap_along(const ig_gpu_axes &w, int a, int transposed, int o, int k, int n)
{
    int at = transposed ? o + w.before[a] - k * w.d[a] : o * w.s[a] - w.before[a] + k * w.d[a];
    if (transposed) {
        if (at < 0 || at % w.s[a]) return -1;
        at /= w.s[a];
    }
    return (unsigned)at < (unsigned)n ? at : -1;
}

/* Where an output is. */
struct window_place {
    int z, y, x, channel;
};

template <typename P> static __device__ __forceinline__ window_place place_in(const P &p, int i, int channels)
{
    const int m = i / channels, row = m / p.out_w;
    const window_place at = {row / p.out_h, row % p.out_h, m - row * p.out_w, i - m * channels};
    return at;
}

template <typename P> static __device__ __forceinline__ int out_of(const P &p, const window_place &at)
{
    return (at.z * p.out_h + at.y) * p.out_row + at.x * p.out_pixel + at.channel;
}

/* Offset of the pixel that tap k of an output reads; -1: beyond the edge. */
template <typename P> static __device__ __forceinline__ int pixel_of(const P &p, const window_place &at, int transposed, int k)
{
    const int kx = k % p.w.k[2], ky = k / p.w.k[2] % p.w.k[1], kz = k / p.w.k[2] / p.w.k[1];
    const int iz = tap_along(p.w, 0, transposed, at.z, kz, p.in_d), iy = tap_along(p.w, 1, transposed, at.y, ky, p.in_h);
    const int ix = tap_along(p.w, 2, transposed, at.x, kx, p.in_w);
    return iz < 0 || iy < 0 || ix < 0 ? -1 : (iz * p.in_h + iy) * p.in_row + ix * p.in_pixel;
}

GPU_KERNEL(128, 8, conv_window, ig_gpu_window)
{
    const int i = blockIdx.x * 128 + threadIdx.x, taps = p.w.k[0] * p.w.k[1] * p.w.k[2];
    if (i >= p.count) return;
    const window_place at = place_in(p, i, p.channels);
    const int group = at.channel / p.oc, weights = group * p.weight_group + (at.channel - group * p.oc) * p.weight_out;
    float sum = p.bias ? get_float(p.bias, p.bias_type, at.channel) : 0;
    for (int k = 0; k < taps; k++) {
        const int pixel = pixel_of(p, at, p.transposed, k);
        if (pixel < 0) continue;
        for (int c = 0; c < p.ic; c++)
            sum = fmaf(get_float(p.in, p.in_type, pixel + group * p.ic + c),
                       get_float(p.weights, p.weight_type, weights + c * p.weight_in + k), sum);
    }
    if (p.residual)
        sum += get_float(p.residual, p.residual_type,
                         (at.z * p.out_h + at.y) * p.residual_row + at.x * p.residual_pixel + at.channel);
    put_float(p.out, p.out_type, out_of(p, at), activate(p.act, sum));
}

/* Element i of a zero point. */
static __device__ __forceinline__ int zero_point(const void *data, const ig_gpu_scaled &s, int i)
{
    return s.count ? (int)get_int(data, s.type, s.count > 1 ? i : 0) : 0;
}

GPU_KERNEL(128, 8, conv_bytes, ig_gpu_window_bytes)
{
    const int i = blockIdx.x * 128 + threadIdx.x, taps = p.w.k[0] * p.w.k[1] * p.w.k[2];
    if (i >= p.count) return;
    const window_place at = place_in(p, i, p.channels);
    const int first = at.channel / p.oc * p.ic, weights = at.channel * p.ic * taps, to = out_of(p, at);
    const int zx = zero_point(p.in_zero, p.zx, 0), zw = zero_point(p.weight_zero, p.zw, at.channel);
    long long sum = 0;
    for (int k = 0; k < taps; k++) {
        const int pixel = pixel_of(p, at, 0, k);
        if (pixel < 0) continue;
        for (int c = 0; c < p.ic; c++)
            sum += ((int)get_int(p.in, p.in_type, pixel + first + c) - zx) *
                   ((int)get_int(p.weights, p.weight_type, weights + c * taps + k) - zw);
    }
    if (!p.in_scale) {
        ((int32_t *)p.out)[to] = (int32_t)sum;
        return;
    }
    if (!p.out_scale) {
        ((float *)p.out)[to] = scaled_sum((int32_t)sum, p.in_scale, p.weight_scale, p.weight_scales, (const float *)p.bias, at.channel, p.act);
        return;
    }
    if (p.bias) sum += ((const int32_t *)p.bias)[at.channel];
    const float scale = p.in_scale[0] * p.weight_scale[p.weight_scales > 1 ? at.channel : 0] / p.out_scale[0];
    if (p.out_type == IG_F32) {
        ((float *)p.out)[to] = (float)sum * scale;
        return;
    }
    const double y = rint((float)sum * scale) + (p.out_zero ? (double)get_int(p.out_zero, p.out_zero_type, 0) : 0);
    put_int(p.out, p.out_type, to, (long long)(y > p.low ? y > p.high ? p.high : y : p.low));
}

/* --- pooling --- */

static __device__ __forceinline__ float lp_term(float v, int power)
{
    v = fabsf(v);
    return power == 1 ? v : power == 2 ? v * v : powf(v, (float)power);
}

static __device__ __forceinline__ float lp_root(float sum, int power)
{
    return power == 1 ? sum : power == 2 ? sqrtf(sum) : powf(sum, 1.0f / (float)power);
}

/* Whether a position is in the image or its explicit padding. */
static __device__ __forceinline__ bool counts(const ig_gpu_pools &p, const window_place &at, int kz, int ky, int kx)
{
    return at.z * p.w.s[0] - p.w.before[0] + kz * p.w.d[0] < p.counted[0] &&
           at.y * p.w.s[1] - p.w.before[1] + ky * p.w.d[1] < p.counted[1] &&
           at.x * p.w.s[2] - p.w.before[2] + kx * p.w.d[2] < p.counted[2];
}

GPU_KERNEL(128, 8, pool_window, ig_gpu_pools)
{
    const int i = blockIdx.x * 128 + threadIdx.x, taps = p.w.k[0] * p.w.k[1] * p.w.k[2];
    if (i >= p.count) return;
    const window_place at = place_in(p, i, p.c);
    const bool real = is_float(p.in_type);
    float sum = 0, most = -INFINITY;
    long long largest = p.in_type == IG_I8 ? -128 : 0, index = 0;
    int taken = 0, counted = 0;
    for (int k = 0; k < taps; k++) {
        const int kx = k % p.w.k[2], ky = k / p.w.k[2] % p.w.k[1], kz = k / p.w.k[2] / p.w.k[1];
        const int iz = tap_along(p.w, 0, 0, at.z, kz, p.in_d), iy = tap_along(p.w, 1, 0, at.y, ky, p.in_h);
        const int ix = tap_along(p.w, 2, 0, at.x, kx, p.in_w);
        counted += counts(p, at, kz, ky, kx);
        if (iz < 0 || iy < 0 || ix < 0) continue;
        const int from = (iz * p.in_h + iy) * p.in_row + ix * p.in_pixel + at.channel;
        const float v = real ? get_float(p.in, p.in_type, from) : 0;
        const long long n = real ? 0 : get_int(p.in, p.in_type, from);
        if (!taken++ || (real ? v > most : n > largest)) {
            most = v, largest = n;
            index = p.column_major ? iz + (long long)p.in_d * (iy + (long long)p.in_h * ix)
                                   : ix + (long long)p.in_w * (iy + (long long)p.in_h * iz);
        }
        sum += p.kind == IG_POOL_LP ? lp_term(v, p.p) : v;
    }
    const int by = p.counted[0] ? counted : taken, to = out_of(p, at);
    const float v = p.kind == IG_POOL_MAX ? most : p.kind == IG_POOL_LP ? lp_root(sum, p.p) : by ? sum / (float)by : 0;
    if (real) put_float(p.out, p.out_type, to, v);
    else put_int(p.out, p.out_type, to, largest);
    if (p.index)
        p.index[(at.z * p.out_h + at.y) * p.index_row + at.x * p.index_pixel + at.channel] =
            (long long)(p.first + at.channel) * p.in_d * p.in_h * p.in_w + index;
}

/* Over whole images: a warp's lanes are channels, a block's warps every eighth pixel. */
GPU_KERNEL(256, 4, pool_whole, ig_gpu_pools)
{
    SHARED(float, part, [8][32]);
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32, channel = blockIdx.x * 32 + lane, pixels = p.in_h * p.in_w;
    const bool largest = p.kind == IG_POOL_MAX;
    float r = largest ? -INFINITY : 0;
    if (channel < p.c)
        for (int m = warp; m < pixels; m += 8) {
            const float v = get_float(p.in, p.in_type, m / p.in_w * p.in_row + m % p.in_w * p.in_pixel + channel);
            r = largest ? (v > r ? v : r) : r + (p.kind == IG_POOL_LP ? lp_term(v, p.p) : v);
        }
    part[warp][lane] = r;
    __syncthreads();
    if (warp || channel >= p.c) return;
    for (int i = 1; i < 8; i++) r = largest ? (part[i][lane] > r ? part[i][lane] : r) : r + part[i][lane];
    put_float(p.out, p.out_type, channel, largest ? r : p.kind == IG_POOL_LP ? lp_root(r, p.p) : r / (float)pixels);
}

/* --- across channels: x / (bias + scale sum of squares about it)^beta --- */

GPU_KERNEL(128, 8, lrn_f32, ig_gpu_lrn)
{
    const int i = blockIdx.x * 128 + threadIdx.x;
    if (i >= p.count) return;
    const int m = i / p.c, channel = i - m * p.c, y = m / p.w, x = m - y * p.w;
    const float *pixel = p.in + (y * p.in_row + x * p.in_pixel);
    float sum = 0;
    for (int c = max(0, channel - p.before); c <= min(p.c - 1, channel + p.after); c++) sum = fmaf(pixel[c], pixel[c], sum);
    p.out[y * p.out_row + x * p.out_pixel + channel] = pixel[channel] * powf(fmaf(p.scale, sum, p.bias), -p.beta);
}
