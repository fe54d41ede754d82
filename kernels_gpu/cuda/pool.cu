/*
 * Pooling: maximum or average over windows, a thread for four channels of a pixel; and over whole images, where a warp's
 * lanes take channels and a block's eight warps every eighth pixel, whose results are added in the order of the warps; of a large
 * image's pieces first, then of what they gave.
 * Padding never takes part, but in an average that counts it. *_half: of halves.
 */
#include "kernels_gpu/cuda/cuda.cuh"

static __device__ __forceinline__ float larger(float a, float b)
{
    return b > a ? b : a;
}

template <bool VECTOR, typename E = float> static __device__ __forceinline__ void pool(const ig_gpu_pool &p)
{
    const int quads = (p.c + 3) / 4, i = blockIdx.x * 128 + threadIdx.x, m = i / quads, channel = (i - m * quads) * 4;
    const int y = m / p.out_w, x = m - y * p.out_w, n = p.c - channel;
    if (y >= p.out_h) return;
    const float nothing = p.average ? 0 : -INFINITY;
    float4 r = make_float4(nothing, nothing, nothing, nothing);
    int taken = 0, counted = 0;
    for (int ky = 0; ky < p.kh; ky++)
        for (int kx = 0; kx < p.kw; kx++) {
            const int iy = y * p.sh - p.top + ky * p.dh, ix = x * p.sw - p.left + kx * p.dw;
            counted += iy < p.counted_h && ix < p.counted_w;
            if ((unsigned)iy >= (unsigned)p.in_h || (unsigned)ix >= (unsigned)p.in_w) continue;
            const float4 v = load_upto4<VECTOR>((const E *)p.in + (iy * p.in_row + ix * p.in_pixel + channel), n);
            taken++;
            if (p.average) r = make_float4(r.x + v.x, r.y + v.y, r.z + v.z, r.w + v.w);
            else r = make_float4(larger(r.x, v.x), larger(r.y, v.y), larger(r.z, v.z), larger(r.w, v.w));
        }
    if (p.average) {
        const int by = p.counted_h ? counted : taken;
        const float f = by ? 1.0f / (float)by : 0;
        r = make_float4(r.x * f, r.y * f, r.z * f, r.w * f);
    }
    store_upto4<VECTOR>((E *)p.out + (y * p.out_row + x * p.out_pixel + channel), r, n);
}

GPU_KERNEL(128, 8, pool_4, ig_gpu_pool)
{
    pool<true>(p);
}

GPU_KERNEL(128, 8, pool_any, ig_gpu_pool)
{
    pool<false>(p);
}

GPU_KERNEL(128, 8, pool_half4, ig_gpu_pool)
{
    pool<true, binary16>(p);
}

GPU_KERNEL(128, 8, pool_half_any, ig_gpu_pool)
{
    pool<false, binary16>(p);
}

/* a joined with b: their sum or the larger one. */
static __device__ __forceinline__ float4 joined(int average, float4 a, float4 b)
{
    if (average) return make_float4(a.x + b.x, a.y + b.y, a.z + b.z, a.w + b.w);
    return make_float4(larger(a.x, b.x), larger(a.y, b.y), larger(a.z, b.z), larger(a.w, b.w));
}

/* Of [from, from + 3), how many lie in [0, n), or below `counted` where that is given. */
static __device__ __forceinline__ int three(int from, int n, int counted)
{
    int sum = 0;
    UNROLL
    for (int k = 0; k < 3; k++) sum += counted ? from + k < counted : (unsigned)(from + k) < (unsigned)n;
    return sum;
}

/*
 * 3x3 of stride 1 over large images: a thread for four channels of four outputs one below the other, which share the rows
 * that they have in common; else the second-level cache would have to bring each pixel nine times.
 */
template <typename E> static __device__ __forceinline__ void pool_by_strips(const ig_gpu_pool &p)
{
    const int quads = p.c / 4, i = blockIdx.x * 128 + threadIdx.x, m = i / quads, channel = (i - m * quads) * 4;
    const int strip = m / p.out_w, x = m - strip * p.out_w, y = strip * 4, iy = y - p.top, ix = x - p.left;
    if (y >= p.out_h) return;
    const float nothing = p.average ? 0 : -INFINITY;
    const float4 none = make_float4(nothing, nothing, nothing, nothing);
    float4 sums[4] = {none, none, none, none};
    UNROLL
    for (int r = 0; r < 6; r++) {
        float4 v[3];
        UNROLL
        for (int k = 0; k < 3; k++) {
            const bool inside = (unsigned)(iy + r) < (unsigned)p.in_h && (unsigned)(ix + k) < (unsigned)p.in_w;
            v[k] = inside ? load4((const E *)p.in + ((iy + r) * p.in_row + (ix + k) * p.in_pixel + channel)) : none;
        }
        UNROLL
        for (int j = 0; j < 4; j++) /* taps in the order that all kernels have them */
            if (r >= j && r < j + 3) sums[j] = joined(p.average, joined(p.average, joined(p.average, sums[j], v[0]), v[1]), v[2]);
    }
    UNROLL
    for (int r = 0; r < 4; r++) {
        if (y + r >= p.out_h) return;
        float4 v = sums[r];
        if (p.average) {
            const int by = three(iy + r, p.in_h, p.counted_h) * three(ix, p.in_w, p.counted_w);
            const float f = by ? 1.0f / (float)by : 0;
            v = make_float4(v.x * f, v.y * f, v.z * f, v.w * f);
        }
        store4((E *)p.out + ((y + r) * p.out_row + x * p.out_pixel + channel), v);
    }
}

GPU_KERNEL(128, 4, pool_3s1, ig_gpu_pool)
{
    pool_by_strips<float>(p);
}

GPU_KERNEL(128, 4, pool_half3s1, ig_gpu_pool)
{
    pool_by_strips<binary16>(p);
}

enum { TAKEN = 4 }; /* pixels that a warp has under way */

/* Pixels [blockIdx.y * chunk, + chunk); of several such pieces the results become one as an image's pixels do. */
template <typename IN, typename OUT> static __device__ __forceinline__ void pool_image(const ig_gpu_whole &p)
{
    SHARED(float, part, [8][32]);
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32, channel = blockIdx.x * 32 + lane;
    const int first = blockIdx.y * p.chunk, end = min(first + p.chunk, p.h * p.w);
    const float nothing = p.average ? 0 : -INFINITY;
    float r = nothing;
    if (channel < p.c)
        for (int m = first + warp; m < end; m += 8 * TAKEN) {
            float v[TAKEN];
            UNROLL
            for (int k = 0; k < TAKEN; k++) {
                const int at = m + 8 * k, y = p.h > 1 ? at / p.w : 0, x = at - y * p.w;
                v[k] = at < end ? widened(((const IN *)p.in)[y * p.row + x * p.pixel + channel]) : nothing;
            }
            UNROLL
            for (int k = 0; k < TAKEN; k++) r = p.average ? r + v[k] : larger(r, v[k]);
        }
    part[warp][lane] = r;
    __syncthreads();
    if (warp || channel >= p.c) return;
    for (int i = 1; i < 8; i++) r = p.average ? r + part[i][lane] : larger(r, part[i][lane]);
    store_either1(p.out, blockIdx.y * p.c + channel, sizeof(OUT) < sizeof(float), p.average && p.by ? r / (float)p.by : r);
}

GPU_KERNEL(256, 4, pool_global, ig_gpu_whole)
{
    pool_image<float, float>(p);
}

GPU_KERNEL(256, 4, pool_global_half, ig_gpu_whole)
{
    pool_image<binary16, binary16>(p);
}

GPU_KERNEL(256, 4, pool_global_from_half, ig_gpu_whole)
{
    pool_image<binary16, float>(p);
}

GPU_KERNEL(256, 4, pool_global_to_half, ig_gpu_whole)
{
    pool_image<float, binary16>(p);
}
