/*
 * Four channels of OY x OX outputs, which are what a thread computes: where they are, and what comes before and after their sums. APART: outputs
 * lie p.dh rows and p.dw columns from each other, as those do that share pixels under a dilated window.
 */
#ifndef KERNELS_GPU_CUDA_OUTPUTS_CUH
#define KERNELS_GPU_CUDA_OUTPUTS_CUH

#include "kernels_gpu/cuda/cuda.cuh"

template <int OY, int OX, bool APART = false> struct outputs {
    int y, x, channel;
    float4 sum[OY][OX];

    /* The i-th of so many quads of channels a pixel, neighbours of which are a quad apart; false beyond the last. */
    __device__ __forceinline__ bool find(const ig_gpu_conv &p, int i, int quads)
    {
        const int across = APART ? (p.out_w + OX * p.dw - 1) / (OX * p.dw) * p.dw : (p.out_w + OX - 1) / OX;
        const int tile = i / quads, ty = tile / across, tx = tile - ty * across;
        channel = (i - tile * quads) * 4, y = APART ? ty / p.dh * OY * p.dh + ty % p.dh : ty * OY;
        x = APART ? tx / p.dw * OX * p.dw + tx % p.dw : tx * OX;
        return y < p.out_h;
    }
    __device__ __forceinline__ int row(const ig_gpu_conv &p, int oy) const
    {
        return y + (APART ? oy * p.dh : oy);
    }
    __device__ __forceinline__ int column(const ig_gpu_conv &p, int ox) const
    {
        return x + (APART ? ox * p.dw : ox);
    }
    /* E: what weights and bias are stored as. */
    template <typename E> __device__ __forceinline__ void begin(const ig_gpu_conv &p)
    {
        const float4 bias = p.bias ? load4((const E *)p.bias + channel) : make_float4(0, 0, 0, 0);
        UNROLL
        for (int oy = 0; oy < OY; oy++)
            UNROLL
            for (int ox = 0; ox < OX; ox++) sum[oy][ox] = bias;
    }
    /* Residual, activation; VECTOR: four at a time. A kernel on halves may have operands of either precision. */
    template <typename E, bool VECTOR> static __device__ __forceinline__ void put_one(const ig_gpu_conv &p, int y, int x, int channel, float4 v)
    {
        const int of_residual = y * p.residual_row + x * p.residual_pixel + channel, of_out = y * p.out_row + x * p.out_pixel + channel;
        if (sizeof(E) < sizeof(float)) {
            if (p.residual) v = sum_of(v, load_either(p.residual, of_residual, p.halves & IG_GPU_RESIDUAL_HALVES, VECTOR, 4));
            store_either(p.out, of_out, p.halves & IG_GPU_OUT_HALVES, VECTOR, activate(p.act, v), 4);
        } else {
            if (p.residual) v = sum_of(v, load_upto4<VECTOR>(p.residual + of_residual, 4));
            store_upto4<VECTOR>(p.out + of_out, activate(p.act, v), 4);
        }
    }
    /* The same of n channels, which may be fewer; four at a time where the call allows it. */
    template <typename E>
    static __device__ __forceinline__ void put_upto4(const ig_gpu_conv &p, int y, int x, int channel, float4 v, int n)
    {
        const int of_residual = y * p.residual_row + x * p.residual_pixel + channel, of_out = y * p.out_row + x * p.out_pixel + channel;
        const bool half_residual = sizeof(E) < sizeof(float) && p.halves & IG_GPU_RESIDUAL_HALVES;
        const bool half_out = sizeof(E) < sizeof(float) && p.halves & IG_GPU_OUT_HALVES;
        if (p.residual) v = sum_of(v, load_either(p.residual, of_residual, half_residual, p.vector_out, n));
        store_either(p.out, of_out, half_out, p.vector_out, activate(p.act, v), n);
    }
    template <typename E, bool VECTOR = true> __device__ __forceinline__ void put(const ig_gpu_conv &p) const
    {
        UNROLL
        for (int oy = 0; oy < OY; oy++)
            UNROLL
            for (int ox = 0; ox < OX; ox++)
                if (row(p, oy) < p.out_h && column(p, ox) < p.out_w) put_one<E, VECTOR>(p, row(p, oy), column(p, ox), channel, sum[oy][ox]);
    }
};

#endif
