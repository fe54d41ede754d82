/*
 * Convolutions of bytes (conv_bytes.cu) of 3x3 whose groups are of few channels: grouped.cu, by products of four bytes.
 *
 * conv_byte_grouped<OY>x<OX>s<S>: a thread computes four channels of OY x OX outputs, neighbouring lanes neighbouring fours. It goes through
 * its group's channels by words of four, of which it holds the weights of its four channels under all taps, and a row of pixels, which taps
 * and rows of outputs share: of stride 1 with 2 x 4 outputs 288 dp4a for nine times 16 bytes of weights and 24 words of pixels, with 1 x 4
 * 144 for as many weights and 18. Lanes of one group read the same pixels.
 * *_any: pixels whose words are not aligned, or whose groups are not of whole words.
 */
#include "kernels_gpu/cuda/outputs_bytes.cuh"

template <int S, int OY, int OX, bool WORD = true> struct grouped_bytes {
    enum { K = 3, ROWS = (OY - 1) * S + K, COLUMNS = (OX - 1) * S + K };

    /* sum + products of a pixel's word and of those of four channels' weights. */
    static __device__ __forceinline__ void add_products(sums4 &sum, unsigned pixel, float4 w)
    {
        sum.x[0] = dot4(pixel, __float_as_uint(w.x), sum.x[0]);
        sum.x[1] = dot4(pixel, __float_as_uint(w.y), sum.x[1]);
        sum.x[2] = dot4(pixel, __float_as_uint(w.z), sum.x[2]);
        sum.x[3] = dot4(pixel, __float_as_uint(w.w), sum.x[3]);
    }
    /* A row's columns from ix on: of n channels, four at most, from `in` on; beyond the edges padding. */
    static __device__ __forceinline__ void load_row(const ig_gpu_conv_bytes &p, const uint8_t *in, bool inside, int ix, int n,
                                                    unsigned (&column)[COLUMNS])
    {
        const unsigned pad = __float_as_uint(p.ends[3]);
        UNROLL
        for (int c = 0; c < COLUMNS; c++)
            column[c] = (inside && (unsigned)(ix + c) < (unsigned)p.in_w ? bytes_of<WORD>(in + (unsigned)(c * p.in_pixel), n) : pad) ^ p.flip;
    }
    /* Adds a row of taps to a row of outputs. */
    static __device__ __forceinline__ void add_row(const unsigned (&column)[COLUMNS], const float4 (&w)[K], sums4 (&sum)[OX])
    {
        UNROLL
        for (int kx = 0; kx < K; kx++)
            UNROLL
            for (int ox = 0; ox < OX; ox++) add_products(sum[ox], column[ox * S + kx], w[kx]);
    }
    static __device__ __forceinline__ void put(const ig_gpu_conv_bytes &p, int y, int x, int channel, const sums4 (&sum)[OY][OX])
    {
        byte_finish f;
        f.begin(p, 0, channel);
        UNROLL
        for (int oy = 0; oy < OY; oy++)
            UNROLL
            for (int ox = 0; ox < OX; ox++)
                if (y + oy < p.out_h && x + ox < p.out_w) f.put(p, (y + oy) * p.out_w + x + ox, channel, sum[oy][ox], 4);
    }
    static __device__ __forceinline__ void compute(const ig_gpu_conv_bytes &p)
    {
        const int channels = p.groups * p.oc, quads_of = channels / 4, across = (p.out_w + OX - 1) / OX, i = blockIdx.x * 128 + threadIdx.x;
        const int tile = i / quads_of, channel = (i - tile * quads_of) * 4, y = tile / across * OY, x = tile % across * OX;
        if (y >= p.out_h) return;
        const int iy = y * S - p.top, ix = x * S - p.left, weight_tap = p.tap / 4 * channels;
        const uint8_t *in = (const uint8_t *)p.in + (iy * p.in_row + ix * p.in_pixel + channel / p.oc * p.ic);
        const float *weights = (const float *)p.weights + channel;
        sums4 sum[OY][OX] = {};
#pragma unroll 1
        for (int c = 0; c < p.ic; c += 4, in += 4, weights += channels) {
            float4 w[K][K];
            unsigned column[COLUMNS];
            UNROLL
            for (int i = 0; i < K * K; i++) w[i / K][i % K] = load4(weights + i * weight_tap);
            UNROLL
            for (int row = 0; row < ROWS; row++) {
                load_row(p, in + (unsigned)(row * p.in_row), (unsigned)(iy + row) < (unsigned)p.in_h, ix, p.ic - c, column);
                UNROLL
                for (int oy = 0; oy < OY; oy++)
                    if (row >= oy * S && row < oy * S + K) add_row(column, w[row - oy * S], sum[oy]);
            }
        }
        put(p, y, x, channel, sum);
    }
};

GPU_KERNEL(128, 3, conv_byte_grouped2x4s1, ig_gpu_conv_bytes)
{
    grouped_bytes<1, 2, 4>::compute(p);
}

GPU_KERNEL(128, 2, conv_byte_grouped2x4s2, ig_gpu_conv_bytes)
{
    grouped_bytes<2, 2, 4>::compute(p);
}

GPU_KERNEL(128, 4, conv_byte_grouped1x4s1, ig_gpu_conv_bytes)
{
    grouped_bytes<1, 1, 4>::compute(p);
}

GPU_KERNEL(128, 4, conv_byte_grouped1x4s2, ig_gpu_conv_bytes)
{
    grouped_bytes<2, 1, 4>::compute(p);
}

GPU_KERNEL(128, 4, conv_byte_grouped_anys1, ig_gpu_conv_bytes)
{
    grouped_bytes<1, 1, 4, false>::compute(p);
}

GPU_KERNEL(128, 4, conv_byte_grouped_anys2, ig_gpu_conv_bytes)
{
    grouped_bytes<2, 1, 4, false>::compute(p);
}
