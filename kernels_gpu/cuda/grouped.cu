/*
 * Convolutions of 3x3 whose groups are some multiple of four channels, too few for a tile (ResNeXt, RegNet).
 *
 * grouped_<OY>x<OX>s<S>: a thread computes four channels of OY x OX outputs, neighbouring lanes neighbouring fours, so that a warp reads 512
 * bytes of pixels and of weights side by side. It goes through its group's channels by fours: of a row of taps it holds the weights of
 * those four (12 quads), which all its rows of outputs share, and a row's pixels, which the taps share: with 2 x 4 outputs 16 multiply-adds for
 * each 16 bytes that it reads, with 1 x 4 eleven. Sums go by fours of channels, then rows, columns and channels.
 * grouped_half*: of pixels and weights that are halves; outputs and residuals of either precision. *_any: operands whose fours are not aligned.
 */
#include "kernels_gpu/cuda/outputs.cuh"

/* sum + one x four, by multiply-adds. */
static __device__ __forceinline__ void add_product(float4 &sum, float one, float4 four)
{
    sum.x = fmaf(one, four.x, sum.x);
    sum.y = fmaf(one, four.y, sum.y);
    sum.z = fmaf(one, four.z, sum.z);
    sum.w = fmaf(one, four.w, sum.w);
}

template <int S, int OY, int OX, typename E = float, bool VECTOR = true> struct grouped {
    enum { K = 3, COLUMNS = (OX - 1) * S + K };

    /* Adds a row of taps: of four channels, from `in` on, of a row's columns from ix on. */
    static __device__ __forceinline__ void add_row(const ig_gpu_conv &p, const E *in, int ix, const float4 (&w)[K][4], float4 (&sum)[OX])
    {
        float4 column[COLUMNS];
        UNROLL
        for (int c = 0; c < COLUMNS; c++)
            column[c] = (unsigned)(ix + c) < (unsigned)p.in_w ? load_upto4<VECTOR>(in + c * p.in_pixel, 4) : make_float4(0, 0, 0, 0);
        UNROLL
        for (int kx = 0; kx < K; kx++)
            UNROLL
            for (int j = 0; j < 4; j++)
                UNROLL
                for (int ox = 0; ox < OX; ox++) add_product(sum[ox], at(column[ox * S + kx], j), w[kx][j]);
    }
    static __device__ __forceinline__ void compute(const ig_gpu_conv &p)
    {
        outputs<OY, OX> to;
        if (!to.find(p, blockIdx.x * 128 + threadIdx.x, p.oc4 / 4)) return;
        const int iy = to.y * S - p.top, ix = to.x * S - p.left;
        const E *in = (const E *)p.in + (iy * p.in_row + ix * p.in_pixel + to.channel / p.oc * p.ic);
        const E *weights = (const E *)p.weights + to.channel;
        to.template begin<E>(p);
#pragma unroll 1
        for (int c = 0; c < p.ic; c += 4, in += 4, weights += 4 * p.oc4)
            UNROLL
            for (int ky = 0; ky < K; ky++) {
                float4 w[K][4];
                UNROLL
                for (int i = 0; i < K * 4; i++) w[i / 4][i % 4] = load4(weights + ((ky * K + i / 4) * p.weight_tap + i % 4 * p.oc4));
                UNROLL
                for (int oy = 0; oy < OY; oy++) {
                    const int row = oy * S + ky;
                    if ((unsigned)(iy + row) < (unsigned)p.in_h) add_row(p, in + row * p.in_row, ix, w, to.sum[oy]);
                }
            }
        to.template put<E, VECTOR>(p);
    }
};

GPU_KERNEL(128, 3, grouped_2x4s1, ig_gpu_conv)
{
    grouped<1, 2, 4>::compute(p);
}

GPU_KERNEL(128, 3, grouped_2x4s2, ig_gpu_conv)
{
    grouped<2, 2, 4>::compute(p);
}

GPU_KERNEL(128, 4, grouped_1x4s1, ig_gpu_conv)
{
    grouped<1, 1, 4>::compute(p);
}

GPU_KERNEL(128, 4, grouped_1x4s2, ig_gpu_conv)
{
    grouped<2, 1, 4>::compute(p);
}

GPU_KERNEL(128, 4, grouped_anys1, ig_gpu_conv)
{
    grouped<1, 1, 4, float, false>::compute(p);
}

GPU_KERNEL(128, 4, grouped_anys2, ig_gpu_conv)
{
    grouped<2, 1, 4, float, false>::compute(p);
}

GPU_KERNEL(128, 3, grouped_half2x4s1, ig_gpu_conv)
{
    grouped<1, 2, 4, binary16>::compute(p);
}

GPU_KERNEL(128, 3, grouped_half2x4s2, ig_gpu_conv)
{
    grouped<2, 2, 4, binary16>::compute(p);
}

GPU_KERNEL(128, 4, grouped_half1x4s1, ig_gpu_conv)
{
    grouped<1, 1, 4, binary16>::compute(p);
}

GPU_KERNEL(128, 4, grouped_half1x4s2, ig_gpu_conv)
{
    grouped<2, 1, 4, binary16>::compute(p);
}

GPU_KERNEL(128, 4, grouped_half_anys1, ig_gpu_conv)
{
    grouped<1, 1, 4, binary16, false>::compute(p);
}

GPU_KERNEL(128, 4, grouped_half_anys2, ig_gpu_conv)
{
    grouped<2, 1, 4, binary16, false>::compute(p);
}
