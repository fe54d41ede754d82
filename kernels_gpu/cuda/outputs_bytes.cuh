/* Sums of products of bytes, and the quantised outputs that they become: of the convolutions on bytes. */
#ifndef KERNELS_GPU_CUDA_OUTPUTS_BYTES_CUH
#define KERNELS_GPU_CUDA_OUTPUTS_BYTES_CUH

#include "kernels_gpu/cuda/bytes.cuh"

struct sums4 { /* of four neighbouring channels of a pixel */
    int x[4];
};

static __device__ __forceinline__ sums4 words_of(float4 v)
{
    const sums4 s = {{(int)__float_as_uint(v.x), (int)__float_as_uint(v.y), (int)__float_as_uint(v.z), (int)__float_as_uint(v.w)}};
    return s;
}

static __device__ __forceinline__ float4 as_floats(const sums4 &s)
{
    return make_float4(__uint_as_float((unsigned)s.x[0]), __uint_as_float((unsigned)s.x[1]), __uint_as_float((unsigned)s.x[2]),
                       __uint_as_float((unsigned)s.x[3]));
}

/* Modulo 2^32. */
static __device__ __forceinline__ sums4 sum_of(const sums4 &a, const sums4 &b)
{
    sums4 s;
    UNROLL
    for (int j = 0; j < 4; j++) s.x[j] = (int)((unsigned)a.x[j] + (unsigned)b.x[j]);
    return s;
}

/* What becomes of four channels' sums. */
struct byte_finish {
    sums4 bias;
    float4 scale, ends; /* ends: least, largest, and what is added then */

    __device__ __forceinline__ void begin(const ig_gpu_conv_bytes &p, int group, int channel)
    {
        bias = words_of(load4((const float *)(p.bias + (group * p.oc4 + channel))));
        scale = load4(p.scale + (group * p.oc4 + channel));
        ends = load4(p.ends);
    }
    /* Of no number the least, too. */
    __device__ __forceinline__ int of(int sum, float by) const
    {
        const float y = rintf((float)sum * by);
        return (int)((y > ends.x ? y > ends.y ? ends.y : y : ends.x) + ends.z);
    }
    /* n of them, four at most, of pixel m, from a channel of all. */
    __device__ __forceinline__ void put(const ig_gpu_conv_bytes &p, int m, int channel, const sums4 &sum, int n) const
    {
        const int y = m / p.out_w, x = m - y * p.out_w;
        const sums4 s = sum_of(sum, bias);
        if (p.is_float) {
            const float by[4] = {scale.x, scale.y, scale.z, scale.w};
            float *real = (float *)p.out + (y * p.out_row + x * p.out_pixel + channel);
            UNROLL
            for (int j = 0; j < 4; j++)
                if (j < n) real[j] = (float)s.x[j] * by[j];
            return;
        }
        const int v[4] = {of(s.x[0], scale.x), of(s.x[1], scale.y), of(s.x[2], scale.z), of(s.x[3], scale.w)};
        uint8_t *to = (uint8_t *)p.out + (y * p.out_row + x * p.out_pixel + channel);
        if (p.vector_out) {
            IS_ALIGNED(to, 4);
            *(unsigned *)to = (v[0] & 255) | (v[1] & 255) << 8 | (v[2] & 255) << 16 | (unsigned)v[3] << 24;
            return;
        }
        UNROLL
        for (int j = 0; j < 4; j++)
            if (j < n) to[j] = (uint8_t)v[j];
    }
};

#endif
