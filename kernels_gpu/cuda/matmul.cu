/*
 * Products of matrices that are both made at run time, in batches that broadcast, either side transposed. Floats: a block
 * computes 64 x 64 outputs, a thread 4 x 4 of them, from steps of 16 of both matrices in shared memory; every output is
 * one chain of fused multiply-adds in the order of k. Integers and quantised operands: a thread per output.
 */
#include "kernels_gpu/cuda/element.cuh"

enum { MATMUL_TILE = 64, MATMUL_STEP = 16, MATMUL_THREADS = 256 };

/*
 * Brings rows [first, first + 64) of k [k0, k0 + 16) to `to`, [k][row]; zero outside. Neighbours in a warp are neighbours
 * in memory, whichever of the strides is 1.
 */
static __device__ __forceinline__ void matmul_bring(float (*to)[MATMUL_TILE + 4], const float *from, int rows, int length, int first,
                                                    int k0, int row_step, int k_step)
{
    UNROLL
    for (int i = 0; i < MATMUL_TILE * MATMUL_STEP / MATMUL_THREADS; i++) {
        const int e = threadIdx.x + i * MATMUL_THREADS;
        const int r = k_step == 1 ? e / MATMUL_STEP : e % MATMUL_TILE, k = k_step == 1 ? e % MATMUL_STEP : e / MATMUL_TILE;
        const bool inside = first + r < rows && k0 + k < length;
        to[k][r] = inside ? from[(long long)(first + r) * row_step + (long long)(k0 + k) * k_step] : 0;
    }
}

GPU_KERNEL(256, 2, matmul_64x64, ig_gpu_matmul)
{
    SHARED(float, a, [MATMUL_STEP][MATMUL_TILE + 4]);
    SHARED(float, b, [MATMUL_STEP][MATMUL_TILE + 4]);
    const int m0 = blockIdx.x * MATMUL_TILE, n0 = blockIdx.y * MATMUL_TILE, tm = threadIdx.x / 16 * 4, tn = threadIdx.x % 16 * 4;
    const float *left = (const float *)p.a + walk(p.dims, p.a_at, p.loops, blockIdx.z);
    const float *right = (const float *)p.b + walk(p.dims, p.b_at, p.loops, blockIdx.z);
    float sum[4][4];
    UNROLL
    for (int i = 0; i < 16; i++) sum[i / 4][i % 4] = 0;
    for (int k0 = 0; k0 < p.k; k0 += MATMUL_STEP) {
        matmul_bring(a, left, p.m, p.k, m0, k0, p.a_m, p.a_k);
        matmul_bring(b, right, p.n, p.k, n0, k0, p.b_n, p.b_k);
        __syncthreads();
        UNROLL
        for (int k = 0; k < MATMUL_STEP; k++) {
            float4 x = load4(&a[k][tm]);
            const float4 w = load4(&b[k][tn]);
            UNROLL
            for (int i = 0; i < 4; i++) {
                const float v = at(x, i);
                sum[i][0] = fmaf(v, w.x, sum[i][0]);
                sum[i][1] = fmaf(v, w.y, sum[i][1]);
                sum[i][2] = fmaf(v, w.z, sum[i][2]);
                sum[i][3] = fmaf(v, w.w, sum[i][3]);
            }
        }
        __syncthreads();
    }
    float *out = (float *)p.out + (long long)blockIdx.z * p.m * p.n;
    UNROLL
    for (int i = 0; i < 4; i++)
        UNROLL
        for (int j = 0; j < 4; j++)
            if (m0 + tm + i < p.m && n0 + tn + j < p.n) out[(long long)(m0 + tm + i) * p.n + n0 + tn + j] = p.alpha * sum[i][j];
}

GPU_KERNEL(128, 8, matmul_integer, ig_gpu_matmul)
{
    const int i = blockIdx.x * 128 + threadIdx.x, plane = p.m * p.n, batch = i / plane;
    if (batch >= p.batches) return;
    const int row = i % plane / p.n, column = i % p.n;
    const int ia = walk(p.dims, p.a_at, p.loops, batch) + row * p.a_m, ib = walk(p.dims, p.b_at, p.loops, batch) + column * p.b_n;
    unsigned long long sum = 0;
    for (int k = 0; k < p.k; k++)
        sum += (unsigned long long)get_int(p.a, p.type, ia + k * p.a_k) * (unsigned long long)get_int(p.b, p.type, ib + k * p.b_k);
    put_int(p.out, p.type, i, (long long)sum);
}

/* Element i of a parameter. */
static __device__ __forceinline__ int zero_of(const void *data, const ig_gpu_scaled &s, int i)
{
    return s.count ? (int)get_int(data, s.type, s.count > 1 ? i : 0) : 0;
}

GPU_KERNEL(128, 8, matmul_bytes, ig_gpu_matmul_bytes)
{
    const int i = blockIdx.x * 128 + threadIdx.x, plane = p.m * p.n, batch = i / plane;
    if (i >= p.count) return;
    const int row = i % plane / p.n, column = i % p.n;
    const int ia = walk(p.dims, p.a_at, p.loops, batch) + row * p.a_m, ib = walk(p.dims, p.b_at, p.loops, batch) + column * p.b_n;
    const int za = zero_of(p.a_zero, p.za, row), zb = zero_of(p.b_zero, p.zb, column);
    long long sum = 0;
    for (int k = 0; k < p.k; k++)
        sum += ((int)get_int(p.a, p.a_type, ia + k * p.a_k) - za) * ((int)get_int(p.b, p.b_type, ib + k * p.b_k) - zb);
    if (!p.a_scale) {
        ((int32_t *)p.out)[i] = (int32_t)sum;
        return;
    }
    if (!p.y_scale) {
        ((float *)p.out)[i] = scaled_sum((int32_t)sum, p.a_scale, p.b_scale, p.b_scales, p.bias, column, p.act);
        return;
    }
    const float scale = p.a_scale[p.a_scales > 1 ? row : 0] * p.b_scale[p.b_scales > 1 ? column : 0] / p.y_scale[0];
    const double low = p.out_type == IG_I8 ? -128 : 0;
    const double y = rint((float)sum * scale) + (p.y_zero ? (double)get_int(p.y_zero, p.y_zero_type, 0) : 0);
    put_int(p.out, p.out_type, i, (long long)(y > low ? y > low + 255 ? low + 255 : y : low));
}
