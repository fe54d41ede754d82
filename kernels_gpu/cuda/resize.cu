/*
 * Resize of an image's rows and columns: a thread blends four channels of the four pixels around a point, first along x,
 * then along y. Where they lie and how much they weigh is in tables that are made at build time. resize_blend_half*: the input, the output
 * or both are halves. resize_half*, resize_byte*: halves and bytes, of which each output is one.
 */
#include "kernels_gpu/cuda/bytes.cuh"

static __device__ __forceinline__ float4 blend(float4 a, float4 b, float w)
{
    return make_float4(fmaf(b.x, w, a.x * (1 - w)), fmaf(b.y, w, a.y * (1 - w)), fmaf(b.z, w, a.z * (1 - w)),
                       fmaf(b.w, w, a.w * (1 - w)));
}

/* HALVES: as the call says of either side. */
template <bool HALVES, bool VECTOR> static __device__ __forceinline__ float4 pixel_at(const ig_gpu_resize &p, int i, int n)
{
    return HALVES ? load_either(p.in, i, p.halves & IG_GPU_IN_HALVES, VECTOR, n) : load_upto4<VECTOR>(p.in + i, n);
}

template <bool HALVES, bool VECTOR> static __device__ __forceinline__ void resize(const ig_gpu_resize &p)
{
    const int quads = (p.c + 3) / 4, i = blockIdx.x * 128 + threadIdx.x, m = i / quads, channel = (i - m * quads) * 4;
    const int y = m / p.out_w, x = m - y * p.out_w, n = p.c - channel;
    if (y >= p.out_h) return;
    const int32_t *v = p.lines + y * 3, *h = p.lines + (p.out_h + x) * 3;
    const float wy = *(const float *)(v + 2), wx = *(const float *)(h + 2);
    const int upper = v[0] * p.in_row + channel, lower = v[1] * p.in_row + channel, left = h[0] * p.in_pixel, right = h[1] * p.in_pixel;
    const float4 a = pixel_at<HALVES, VECTOR>(p, upper + left, n), b = pixel_at<HALVES, VECTOR>(p, upper + right, n);
    const float4 c = pixel_at<HALVES, VECTOR>(p, lower + left, n), d = pixel_at<HALVES, VECTOR>(p, lower + right, n);
    const float4 sum = blend(blend(a, b, wx), blend(c, d, wx), wy);
    const int to = y * p.out_row + x * p.out_pixel + channel;
    if (HALVES) store_either(p.out, to, p.halves & IG_GPU_OUT_HALVES, VECTOR, sum, n);
    else store_upto4<VECTOR>(p.out + to, sum, n);
}

/* A thread's four channels of an output, n of them there, are those at `from`; n <= 0: there is no such output. */
struct repeated {
    int from, to, n;
};

static __device__ __forceinline__ repeated repeated_of(const ig_gpu_resize &p)
{
    const int quads = (p.c + 3) / 4, i = blockIdx.x * 128 + threadIdx.x, m = i / quads, channel = (i - m * quads) * 4;
    const int y = m / p.out_w, x = m - y * p.out_w;
    repeated r = {0, y * p.out_row + x * p.out_pixel + channel, y < p.out_h ? p.c - channel : 0};
    if (r.n > 0) r.from = p.lines[y * 3] * p.in_row + p.lines[(p.out_h + x) * 3] * p.in_pixel + channel;
    return r;
}

template <bool VECTOR> static __device__ __forceinline__ void resize_halves(const ig_gpu_resize &p)
{
    const repeated r = repeated_of(p);
    if (r.n > 0) store_stored<VECTOR>((binary16 *)p.out + r.to, load_stored<VECTOR>((const binary16 *)p.in + r.from, r.n), r.n);
}

template <bool VECTOR> static __device__ __forceinline__ void resize_bytes(const ig_gpu_resize &p)
{
    const repeated r = repeated_of(p);
    if (r.n > 0) put_bytes<VECTOR>((uint8_t *)p.out + r.to, bytes_of<VECTOR>((const uint8_t *)p.in + r.from, r.n), r.n);
}

GPU_KERNEL(128, 8, resize_byte4, ig_gpu_resize)
{
    resize_bytes<true>(p);
}

GPU_KERNEL(128, 8, resize_byte_any, ig_gpu_resize)
{
    resize_bytes<false>(p);
}

GPU_KERNEL(128, 8, resize_half4, ig_gpu_resize)
{
    resize_halves<true>(p);
}

GPU_KERNEL(128, 8, resize_half_any, ig_gpu_resize)
{
    resize_halves<false>(p);
}

GPU_KERNEL(128, 8, resize_blend_half4, ig_gpu_resize)
{
    resize<true, true>(p);
}

GPU_KERNEL(128, 8, resize_blend_half_any, ig_gpu_resize)
{
    resize<true, false>(p);
}

GPU_KERNEL(128, 8, resize_4, ig_gpu_resize)
{
    resize<false, true>(p);
}

GPU_KERNEL(128, 8, resize_any, ig_gpu_resize)
{
    resize<false, false>(p);
}
