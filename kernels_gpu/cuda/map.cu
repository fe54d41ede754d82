/* Element by element: unary and binary operators with broadcasting, and copies between layouts; *_half*: on halves, *_half_floats: but for b. */
#include "kernels_gpu/cuda/function.cuh"

/* Four channels of an operand that has them side by side (STEP 1), or one for all. */
template <bool VECTOR, typename E> static __device__ __forceinline__ float4 operand(const E *p, int step, int n)
{
    if (!step) {
        const float one = widened(p[0]);
        return make_float4(one, one, one, one);
    }
    return load_upto4<VECTOR>(p, n);
}

template <bool TWO> static __device__ __forceinline__ float4 map_quad(const ig_gpu_map &p, float4 a, float4 b)
{
    if (TWO)
        return activate(p.act, make_float4(binary(p.kind, a.x, b.x), binary(p.kind, a.y, b.y), binary(p.kind, a.z, b.z),
                                           binary(p.kind, a.w, b.w)));
    return make_float4(unary(p.act, a.x), unary(p.act, a.y), unary(p.act, a.z), unary(p.act, a.w));
}

/*
 * Up to four quads a thread, read together. What is one run in memory comes as one pixel, which takes no division. E: what a and the
 * output are; B: what b is.
 */
template <bool VECTOR, bool TWO, typename E = float, typename B = E> static __device__ __forceinline__ void map(const ig_gpu_map &p)
{
    const int quads = (p.c + 3) / 4, first = blockIdx.x * 128 + threadIdx.x, step = gridDim.x * 128, count = p.h * p.w * quads;
    const bool run = p.h == 1 && p.w == 1;
    float4 a[IG_GPU_SOME], b[IG_GPU_SOME];
    int to[IG_GPU_SOME], n[IG_GPU_SOME];
    UNROLL
    for (int k = 0; k < IG_GPU_SOME; k++) {
        const int i = first + k * step;
        a[k] = b[k] = make_float4(0, 0, 0, 0);
        to[k] = n[k] = 0;
        if (i >= count) continue;
        const int m = run ? 0 : i / quads, y = run ? 0 : m / p.w, x = m - y * p.w, channel = (i - m * quads) * 4;
        n[k] = p.c - channel;
        to[k] = y * p.out_row + x * p.out_pixel + channel;
        a[k] = operand<VECTOR>((const E *)p.a + (y * p.a_row + x * p.a_pixel + channel * p.a_channel), p.a_channel, n[k]);
        if (TWO) b[k] = operand<VECTOR>((const B *)p.b + (y * p.b_row + x * p.b_pixel + channel * p.b_channel), p.b_channel, n[k]);
    }
    /* One body of the many functions; the next quad moves up. */
#pragma unroll 1
    for (int i = first, k = 0; k < IG_GPU_SOME && i < count; i += step, k++) {
        store_upto4<VECTOR>((E *)p.out + to[0], map_quad<TWO>(p, a[0], b[0]), n[0]);
        UNROLL
        for (int j = 0; j < IG_GPU_SOME - 1; j++) a[j] = a[j + 1], b[j] = b[j + 1], to[j] = to[j + 1], n[j] = n[j + 1];
    }
}

GPU_KERNEL(128, 8, unary_4, ig_gpu_map)
{
    map<true, false>(p);
}

GPU_KERNEL(128, 8, unary_any, ig_gpu_map)
{
    map<false, false>(p);
}

GPU_KERNEL(128, 8, binary_4, ig_gpu_map)
{
    map<true, true>(p);
}

GPU_KERNEL(128, 8, binary_any, ig_gpu_map)
{
    map<false, true>(p);
}

GPU_KERNEL(128, 8, unary_half4, ig_gpu_map)
{
    map<true, false, binary16>(p);
}

GPU_KERNEL(128, 8, unary_half_any, ig_gpu_map)
{
    map<false, false, binary16>(p);
}

GPU_KERNEL(128, 8, binary_half4, ig_gpu_map)
{
    map<true, true, binary16>(p);
}

GPU_KERNEL(128, 8, binary_half_any, ig_gpu_map)
{
    map<false, true, binary16>(p);
}

GPU_KERNEL(128, 8, binary_half_floats4, ig_gpu_map)
{
    map<true, true, binary16, float>(p);
}

GPU_KERNEL(128, 8, binary_half_floats_any, ig_gpu_map)
{
    map<false, true, binary16, float>(p);
}
