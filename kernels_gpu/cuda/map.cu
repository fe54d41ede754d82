/* Element by element: unary and binary operators with broadcasting, and copies between layouts. */
#include "kernels_gpu/cuda/function.cuh"

/* Four channels of an operand that has them side by side (STEP 1), or one for all. */
template <bool VECTOR> static __device__ __forceinline__ float4 operand(const float *p, int step, int n)
{
    if (!step) return make_float4(p[0], p[0], p[0], p[0]);
    return load_upto4<VECTOR>(p, n);
}

template <bool VECTOR, bool TWO> static __device__ __forceinline__ void map(const ig_gpu_map &p)
{
    const int quads = (p.c + 3) / 4, i = blockIdx.x * 128 + threadIdx.x, m = i / quads, channel = (i - m * quads) * 4;
    const int y = m / p.w, x = m - y * p.w, n = p.c - channel;
    if (y >= p.h) return;
    const float4 a = operand<VECTOR>(p.a + (y * p.a_row + x * p.a_pixel + channel * p.a_channel), p.a_channel, n);
    float4 r;
    if (TWO) {
        const float4 b = operand<VECTOR>(p.b + (y * p.b_row + x * p.b_pixel + channel * p.b_channel), p.b_channel, n);
        r = make_float4(binary(p.kind, a.x, b.x), binary(p.kind, a.y, b.y), binary(p.kind, a.z, b.z),
                        binary(p.kind, a.w, b.w));
        r = activate(p.act, r);
    } else {
        r = make_float4(unary(p.act, a.x), unary(p.act, a.y), unary(p.act, a.z), unary(p.act, a.w));
    }
    store_upto4<VECTOR>(p.out + (y * p.out_row + x * p.out_pixel + channel), r, n);
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
