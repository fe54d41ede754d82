/*
 * Pools of quantised numbers. Averages: v = ((float)S (x_scale / y_scale)) / n, S = sum of the taps inside less x_zero each, an integer and
 * exact, and y = saturate(rint(v) + y_zero): the reference's bits, whatever the order of the sum.
 *
 * Four channels are a word, of i8 made u8 by a flip of the highest bits. A word's even and odd bytes are added up as two sums of 16 bits
 * each, one addition for two channels, which hold 257 taps. pool_byte4, pool_byte_any: a thread for four channels of an output.
 * pool_byte_block: windows of many taps, as one that is the whole image, a block for 32 channels of an output, whose 256 threads take a word of
 * every 32nd tap, four of which are under way together; few outputs have a window's taps in pieces, and pool_byte_join adds up what these gave.
 * Maxima, which need no scales: pool_byte_max4, pool_byte_max_any, a thread for four channels of an output.
 */
#include "kernels_gpu/cuda/bytes.cuh"

/* Taps of an output that are inside the image, along each axis: the first's position, how many; and those that divide. */
struct window_inside {
    int first[3], n[3], counted;
};

/* How many of first, first + d, ... are less than `end`, k at most. */
static __device__ __forceinline__ int taps_below(int first, int end, int d, int k)
{
    const int room = max(end - first, 0);
    return min(k, d == 1 ? room : (room + d - 1) / d);
}

static __device__ __forceinline__ window_inside inside_of(const ig_gpu_average &p, int m)
{
    const int row = m / p.out_w, z = row / p.out_h, o[3] = {z, row - z * p.out_h, m - row * p.out_w}, extent[3] = {p.in_d, p.in_h, p.in_w};
    window_inside r;
    r.counted = 1;
    UNROLL
    for (int a = 0; a < 3; a++) {
        const int start = o[a] * p.w.s[a] - p.w.before[a], d = p.w.d[a], outside = taps_below(start, 0, d, p.w.k[a]);
        r.first[a] = start + outside * d;
        r.n[a] = max(taps_below(start, extent[a], d, p.w.k[a]) - outside, 0);
        r.counted *= p.counted[0] ? taps_below(start, p.counted[a], d, p.w.k[a]) : r.n[a];
    }
    return r;
}

static __device__ __forceinline__ int taps_in(const window_inside &r)
{
    return r.n[0] * r.n[1] * r.n[2];
}

/* Where tap (z, y, x) of those inside is. */
static __device__ __forceinline__ int tap_at(const ig_gpu_average &p, const window_inside &r, int z, int y, int x)
{
    const int row = (r.first[0] + z * p.w.d[0]) * p.in_h + r.first[1] + y * p.w.d[1];
    return row * p.in_row + (r.first[2] + x * p.w.d[2]) * p.in_pixel;
}

/* Four channels there, as u8. */
template <bool WORDS> static __device__ __forceinline__ unsigned tap_word(const ig_gpu_average &p, int at, int channel)
{
    return bytes_of<WORDS>((const uint8_t *)p.in + (at + channel), p.c - channel) ^ flip_of(p.in_type);
}

/* What sums become. */
struct average_finish {
    float scale;
    int zero; /* as the taps are, of i8 128 more */
    byte_ends ends;

    __device__ __forceinline__ void begin(const ig_gpu_average &p)
    {
        const int low = p.out_type == IG_I8 ? -128 : 0;
        scale = *p.in_scale / *p.out_scale;
        zero = zero_byte_of(p.in_zero, p.in_type) + (p.in_type == IG_I8 ? 128 : 0);
        ends = byte_ends_of(p.out_zero, p.out_type, low, low + 255);
    }
    __device__ __forceinline__ unsigned char of(int sum, int taken, int by) const
    {
        return ends.of(by ? (float)(sum - taken * zero) * scale / (float)by : 0);
    }
};

static __device__ __forceinline__ int out_at(const ig_gpu_average &p, int m)
{
    const int row = m / p.out_w;
    return row * p.out_row + (m - row * p.out_w) * p.out_pixel;
}

enum { POOL_AHEAD = 3 }; /* taps of a row that a thread has under way */

/* f of the word of each tap inside; of what a thread has under way but is not there, of 0. */
template <bool WORDS, typename F> static __device__ __forceinline__ void each_tap(const ig_gpu_average &p, const window_inside &r, int channel, F f)
{
    const int next = p.w.d[2] * p.in_pixel;
    for (int z = 0; z < r.n[0]; z++)
        for (int y = 0; y < r.n[1]; y++)
            for (int x = 0, at = tap_at(p, r, z, y, 0); x < r.n[2]; x += POOL_AHEAD, at += POOL_AHEAD * next) {
                unsigned v[POOL_AHEAD];
                UNROLL
                for (int k = 0; k < POOL_AHEAD; k++) v[k] = x + k < r.n[2] ? tap_word<WORDS>(p, at + k * next, channel) : 0;
                UNROLL
                for (int k = 0; k < POOL_AHEAD; k++) f(v[k]);
            }
}

/* Of 257 taps at most. */
template <bool WORDS> static __device__ __forceinline__ void average(const ig_gpu_average &p)
{
    const int quads = (p.c + 3) / 4, i = blockIdx.x * 128 + threadIdx.x, m = i / quads, channel = (i - m * quads) * 4;
    if (m >= p.pixels) return;
    const window_inside r = inside_of(p, m);
    const int taken = taps_in(r);
    unsigned even = 0, odd = 0;
    each_tap<WORDS>(p, r, channel, [&](unsigned v) { even += v & 0x00ff00ff, odd += v >> 8 & 0x00ff00ff; });
    average_finish f;
    f.begin(p);
    const unsigned a = f.of((int)(even & 0xffff), taken, r.counted), b = f.of((int)(odd & 0xffff), taken, r.counted);
    const unsigned c = f.of((int)(even >> 16), taken, r.counted), d = f.of((int)(odd >> 16), taken, r.counted);
    put_bytes<WORDS>((uint8_t *)p.out + (out_at(p, m) + channel), a | b << 8 | c << 16 | d << 24, p.c - channel);
}

GPU_KERNEL(128, 8, pool_byte4, ig_gpu_average)
{
    average<true>(p);
}

GPU_KERNEL(128, 8, pool_byte_any, ig_gpu_average)
{
    average<false>(p);
}

/* The least there is where no tap is inside. */
template <bool WORDS> static __device__ __forceinline__ void maximum(const ig_gpu_average &p)
{
    const int quads = (p.c + 3) / 4, i = blockIdx.x * 128 + threadIdx.x, m = i / quads, channel = (i - m * quads) * 4;
    if (m >= p.pixels) return;
    unsigned most[4] = {0, 0, 0, 0};
    each_tap<WORDS>(p, inside_of(p, m), channel, [&](unsigned v) {
        UNROLL
        for (int j = 0; j < 4; j++) most[j] = max(most[j], v >> 8 * j & 0xff);
    });
    const unsigned word = most[0] | most[1] << 8 | most[2] << 16 | most[3] << 24;
    put_bytes<WORDS>((uint8_t *)p.out + (out_at(p, m) + channel), word ^ flip_of(p.in_type), p.c - channel);
}

GPU_KERNEL(128, 8, pool_byte_max4, ig_gpu_average)
{
    maximum<true>(p);
}

GPU_KERNEL(128, 8, pool_byte_max_any, ig_gpu_average)
{
    maximum<false>(p);
}

enum { BLOCK_CHANNELS = 32, BLOCK_WARPS = 8, BLOCK_TAPS = 32 /* a word of so many taps at once */, BLOCK_TAKEN = 4 };

/* A block's sums of 32 channels, of each warp its own, are one and finished. */
static __device__ __forceinline__ void finish_block(const ig_gpu_average &p, const int (&part)[BLOCK_WARPS][BLOCK_CHANNELS], int m, int channel)
{
    const int lane = threadIdx.x;
    if (lane >= BLOCK_CHANNELS || channel + lane >= p.c) return;
    const window_inside r = inside_of(p, m);
    int sum = 0;
    average_finish f;
    f.begin(p);
    UNROLL
    for (int i = 0; i < BLOCK_WARPS; i++) sum += part[i][lane];
    ((uint8_t *)p.out)[out_at(p, m) + channel + lane] = f.of(sum, taps_in(r), r.counted);
}

/* The same of a piece, as they are. */
static __device__ __forceinline__ void keep_block(const ig_gpu_average &p, const int (&part)[BLOCK_WARPS][BLOCK_CHANNELS], int m, int channel)
{
    const int lane = threadIdx.x;
    if (lane >= BLOCK_CHANNELS || channel + lane >= p.c) return;
    int sum = 0;
    UNROLL
    for (int i = 0; i < BLOCK_WARPS; i++) sum += part[i][lane];
    p.sums[(blockIdx.y * p.pixels + m) * p.c + channel + lane] = sum;
}

template <bool WORDS> static __device__ __forceinline__ void average_block(const ig_gpu_average &p)
{
    SHARED(int, part, [BLOCK_WARPS][BLOCK_CHANNELS]);
    const int across = (p.c + BLOCK_CHANNELS - 1) / BLOCK_CHANNELS, m = blockIdx.x / across, base = (blockIdx.x - m * across) * BLOCK_CHANNELS;
    const int lane = threadIdx.x % 32, quad = lane % 8, channel = base + quad * 4;
    const window_inside r = inside_of(p, m);
    const bool is_line = r.n[0] == 1 && r.n[1] == 1;
    const int first = blockIdx.y * p.chunk, end = channel < p.c ? min(first + p.chunk, taps_in(r)) : 0;
    int sum[4] = {0, 0, 0, 0};
    for (int t = first + threadIdx.x / 8; t < end; t += BLOCK_TAPS * BLOCK_TAKEN) {
        unsigned v[BLOCK_TAKEN], even = 0, odd = 0;
        int at[BLOCK_TAKEN];
        UNROLL
        for (int k = 0; k < BLOCK_TAKEN; k++) {
            const int tap = t + BLOCK_TAPS * k, row = is_line ? 0 : tap / r.n[2], z = r.n[0] == 1 ? 0 : row / r.n[1];
            at[k] = tap_at(p, r, z, row - z * r.n[1], tap - row * r.n[2]);
        }
        UNROLL
        for (int k = 0; k < BLOCK_TAKEN; k++) v[k] = t + BLOCK_TAPS * k < end ? tap_word<WORDS>(p, at[k], channel) : 0;
        UNROLL
        for (int k = 0; k < BLOCK_TAKEN; k++) even += v[k] & 0x00ff00ff, odd += v[k] >> 8 & 0x00ff00ff;
        sum[0] += (int)(even & 0xffff), sum[1] += (int)(odd & 0xffff), sum[2] += (int)(even >> 16), sum[3] += (int)(odd >> 16);
    }
    UNROLL
    for (int j = 0; j < 4; j++) { /* lanes that have one quad */
        sum[j] += __shfl_xor_sync(0xffffffff, sum[j], 8);
        sum[j] += __shfl_xor_sync(0xffffffff, sum[j], 16);
        if (lane < 8) part[threadIdx.x / 32][quad * 4 + j] = sum[j];
    }
    __syncthreads();
    if (p.pieces > 1) keep_block(p, part, m, base);
    else finish_block(p, part, m, base);
}

GPU_KERNEL(256, 4, pool_byte_block, ig_gpu_average)
{
    average_block<true>(p);
}

GPU_KERNEL(256, 4, pool_byte_block_any, ig_gpu_average)
{
    average_block<false>(p);
}

/* A lane for a channel, a warp for every eighth piece. */
GPU_KERNEL(256, 4, pool_byte_join, ig_gpu_average)
{
    SHARED(int, part, [BLOCK_WARPS][BLOCK_CHANNELS]);
    const int across = (p.c + BLOCK_CHANNELS - 1) / BLOCK_CHANNELS, m = blockIdx.x / across, base = (blockIdx.x - m * across) * BLOCK_CHANNELS;
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    int sum = 0;
    if (base + lane < p.c)
        for (int piece = warp; piece < p.pieces; piece += BLOCK_WARPS) sum += p.sums[(piece * p.pixels + m) * p.c + base + lane];
    part[warp][lane] = sum;
    __syncthreads();
    finish_block(p, part, m, base);
}
