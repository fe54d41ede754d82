/* Quantised numbers: up to four neighbouring bytes as a word, and floats that become bytes. */
#ifndef KERNELS_GPU_CUDA_BYTES_CUH
#define KERNELS_GPU_CUDA_BYTES_CUH

#include "kernels_gpu/cuda/element.cuh"

/* n bytes, four at most, wherever they lie; or a word of them. */
template <bool WORD> static __device__ __forceinline__ unsigned bytes_of(const uint8_t *p, int n)
{
    if (WORD) {
        IS_ALIGNED(p, 4);
        return *(const unsigned *)p;
    }
    return n > 3 ? p[0] | p[1] << 8 | p[2] << 16 | (unsigned)p[3] << 24 : n > 2 ? p[0] | p[1] << 8 | p[2] << 16 : n > 1 ? p[0] | p[1] << 8 : p[0];
}

template <bool WORD> static __device__ __forceinline__ void put_bytes(uint8_t *p, unsigned v, int n)
{
    if (WORD) {
        IS_ALIGNED(p, 4);
        *(unsigned *)p = v;
    } else {
        UNROLL
        for (int j = 0; j < 4; j++)
            if (j < n) p[j] = (uint8_t)(v >> 8 * j);
    }
}

/* What makes i8 u8, 128 more, by exclusive or: of four bytes. */
static __device__ __forceinline__ unsigned flip_of(int type)
{
    return type == IG_I8 ? 0x80808080u : 0;
}

/* A zero point of u8 or i8. */
static __device__ __forceinline__ int zero_byte_of(const void *p, int type)
{
    return type == IG_I8 ? *(const signed char *)p : *(const unsigned char *)p;
}

/* What a float becomes: rounded half to even between the ends, of no number the low one, and the zero point added. */
struct byte_ends {
    float low, high;
    int zero;

    __device__ __forceinline__ unsigned char of(float v) const
    {
        return (unsigned char)((int)(v > low ? v < high ? rintf(v) : high : low) + zero);
    }
};

/* Bytes of [low, high]. */
static __device__ __forceinline__ byte_ends byte_ends_of(const void *zero, int type, int low, int high)
{
    const int z = zero_byte_of(zero, type);
    const byte_ends e = {(float)(low - z), (float)(high - z), z};
    return e;
}

#endif
