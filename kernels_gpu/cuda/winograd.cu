/*
 * Winograd's minimal filtering F(rows x columns, kh x kw) for convolutions of stride 1 and 2, in three launches (A. Lavin, S. Gray,
 * "Fast Algorithms for Convolutional Neural Networks", 2015):
 *   winograd*_in      V[tile][point][ic] = B^T d B      of (rows + kh - 1) x (columns + kw - 1) pixels
 *   conv_*            M[tile][point][oc] = V U          conv.cu, a group for every point
 *   winograd*_out     rows x columns outputs = A^T M A, then bias, residual, activation
 * A thread transforms one channel of one tile in registers, neighbours in a warp neighbouring channels, so that memory is
 * accessed along pixels. A filter of one row has tiles of one row, which go through half of it; one of a column is such a filter
 * over the picture turned, whose rows and columns change places (launch/winograd.c). With stride 2 (kernels_cpu/common/winograd.h)
 * even pixels have points of their own, odd ones are theirs.
 * Points and signs are those of U as kernels_cpu/pack/winograd.c makes it. The points of a line of N are 0, infinity and pairs +-p,
 * which share their work: by its even and odd inputs, as many multiplications as there are points, halved.
 */
#include "kernels_gpu/cuda/cuda.cuh"

/* The p of the pairs, the same as in kernels_cpu/pack/winograd.c. */
static __device__ constexpr float point_of(int n, int pair)
{
    return n == 4   ? 1.0f
           : n == 6 ? (pair == 0 ? 0.75f : 1.5f)
           : n == 8 ? (pair == 0 ? 1.0f : pair == 1 ? 2.0f : 0.5f)
                    : (pair == 0 ? 0.4375f : pair == 1 ? 0.8125f : pair == 2 ? 1.25f : 2.0f);
}

/* What the lines of B^T and A^T are made of. All are exact. */
template <int N> struct factors {
    enum { PAIRS = N / 2 - 1 };
    float all[PAIRS + 1];        /* the product over all pairs of (x - p^2), lowest power first */
    float others[PAIRS][PAIRS + 1]; /* over all but one */
    float power[PAIRS][N];       /* p^i */

    __device__ constexpr factors() : all(), others(), power()
    {
        for (int pair = 0; pair < PAIRS; pair++) {
            times_all_but(others[pair], pair);
            power[pair][0] = 1;
            for (int i = 1; i < N; i++) power[pair][i] = power[pair][i - 1] * point_of(N, pair);
        }
        times_all_but(all, PAIRS);
    }
    static __device__ constexpr void times_all_but(float *product, int but)
    {
        product[0] = 1;
        for (int pair = 0; pair < PAIRS; pair++) {
            const float square = point_of(N, pair) * point_of(N, pair);
            if (pair == but) continue;
            for (int i = PAIRS; i > 0; i--) product[i] = product[i - 1] - square * product[i];
            product[0] *= -square;
        }
    }
};

/* The sum of f[i] d[2 i step] up to the power `top`, whose factor is 1. */
static __device__ __forceinline__ float every_second(const float *d, int step, const float *f, int top)
{
    float sum = d[2 * top * step];
    UNROLL
    for (int i = top - 1; i >= 0; i--) sum = fmaf(d[2 * i * step], f[i], sum);
    return sum;
}

/* d[0], d[step], ... d[(N - 1) step] to as many of B^T d. */
template <int N> static __device__ __forceinline__ void transform_in(float *d, int step)
{
    constexpr factors<N> f;
    enum { PAIRS = N / 2 - 1 };
    float to[N];
    to[0] = every_second(d, step, f.all, PAIRS);
    to[N - 1] = every_second(d + step, step, f.all, PAIRS);
    UNROLL
    for (int pair = 0; pair < PAIRS; pair++) {
        const float even = every_second(d + 2 * step, step, f.others[pair], PAIRS - 1);
        const float odd = every_second(d + step, step, f.others[pair], PAIRS - 1);
        to[1 + 2 * pair] = fmaf(odd, f.power[pair][1], even);
        to[2 + 2 * pair] = fmaf(odd, -f.power[pair][1], even);
    }
    UNROLL
    for (int i = 0; i < N; i++) d[i * step] = to[i];
}

/* A line of one has no points. */
template <> __device__ __forceinline__ void transform_in<1>(float *, int)
{
}

/* Stride 2, F(2,3): the points 1, -1 and infinity of three even pixels, and two odd pixels. */
template <> __device__ __forceinline__ void transform_in<5>(float *d, int step)
{
    const float d0 = d[0], d1 = d[step], d2 = d[2 * step], d4 = d[4 * step];
    d[0] = d2 + d0;
    d[step] = d2 - d0;
    d[2 * step] = d4 - d0;
    d[4 * step] = d[3 * step];
    d[3 * step] = d1;
}

/* F(4,3): 1/2, -1/2, 5/4, -5/4 and infinity of five, and four. */
template <> __device__ __forceinline__ void transform_in<9>(float *d, int step)
{
    const float a = 0.5f, b = 1.25f, aa = a * a, bb = b * b;
    const float d0 = d[0], d1 = d[step], d2 = d[2 * step], d3 = d[3 * step], d4 = d[4 * step], d6 = d[6 * step];
    const float even_a = fmaf(d2, -bb, d6), odd_a = fmaf(d0, -bb, d4), even_b = fmaf(d2, -aa, d6), odd_b = fmaf(d0, -aa, d4);
    const float last = fmaf(d0, aa * bb, fmaf(d4, -(aa + bb), d[8 * step]));
    d[0] = fmaf(odd_a, a, even_a);
    d[step] = fmaf(odd_a, -a, even_a);
    d[2 * step] = fmaf(odd_b, b, even_b);
    d[3 * step] = fmaf(odd_b, -b, even_b);
    d[4 * step] = last;
    d[8 * step] = d[7 * step];
    d[7 * step] = d[5 * step];
    d[6 * step] = d3;
    d[5 * step] = d1;
}

/* The M of A^T d, in place of the first of the N. */
template <int M, int N> static __device__ __forceinline__ void transform_out(float *d, int step)
{
    constexpr factors<N> f;
    enum { PAIRS = N / 2 - 1 };
    float to[M];
    UNROLL
    for (int i = 0; i < M; i++) {
        float sum = i == M - 1 ? d[(N - 1) * step] : 0;
        UNROLL
        for (int pair = 0; pair < PAIRS; pair++) {
            const float plus = d[(1 + 2 * pair) * step], minus = d[(2 + 2 * pair) * step], both = i % 2 ? plus - minus : plus + minus;
            const float factor = f.power[pair][i];
            sum = pair == 0 && i < M - 1 ? both * factor : fmaf(both, factor, sum);
        }
        to[i] = i == 0 ? d[0] + sum : sum;
    }
    UNROLL
    for (int i = 0; i < M; i++) d[i * step] = to[i];
}

template <> __device__ __forceinline__ void transform_out<1, 1>(float *, int)
{
}

template <> __device__ __forceinline__ void transform_out<2, 5>(float *d, int step)
{
    const float both = d[0] + d[step], rest = d[0] - d[step];
    d[0] = d[3 * step] + both;
    d[step] = d[4 * step] + d[2 * step] + rest;
}

template <> __device__ __forceinline__ void transform_out<4, 9>(float *d, int step)
{
    const float a = 0.5f, b = 1.25f, aa = a * a, bb = b * b;
    const float s1 = d[0] + d[step], d1 = d[0] - d[step], s2 = d[2 * step] + d[3 * step], d2 = d[2 * step] - d[3 * step];
    const float last = d[8 * step] + d[4 * step];
    d[0] = d[5 * step] + (s1 + s2);
    d[step] = fmaf(d2, b, fmaf(d1, a, d[6 * step]));
    d[2 * step] = fmaf(s2, bb, fmaf(s1, aa, d[7 * step]));
    d[3 * step] = fmaf(d2, bb * b, fmaf(d1, aa * a, last));
}

/* E: what pixels are. */
template <int ROWS, int KH, int COLUMNS, int KW, int STRIDE = 1, typename E = float>
static __device__ __forceinline__ void winograd_in(const ig_gpu_winograd &p)
{
    enum { HIGH = (ROWS - 1) * STRIDE + KH, WIDE = (COLUMNS - 1) * STRIDE + KW };
    const int i = blockIdx.x * 128 + threadIdx.x, tile = i / p.ic4, c = i - tile * p.ic4;
    const int ty = tile / p.tiles_x, y = ty * ROWS * STRIDE - p.top;
    const int x = (tile - ty * p.tiles_x) * COLUMNS * STRIDE - p.left;
    if (ty >= p.tiles_y) return;
    const E *in = (const E *)p.in + (y * p.in_row + x * p.in_pixel + c);
    float d[HIGH * WIDE];
    UNROLL
    for (int r = 0; r < HIGH; r++)
        UNROLL
        for (int k = 0; k < WIDE; k++) {
            const bool inside = c < p.ic && (unsigned)(y + r) < (unsigned)p.in_h && (unsigned)(x + k) < (unsigned)p.in_w;
            d[r * WIDE + k] = inside ? widened(in[r * p.in_row + k * p.in_pixel]) : 0;
        }
    UNROLL
    for (int k = 0; k < WIDE; k++) transform_in<HIGH>(d + k, WIDE);
    UNROLL
    for (int r = 0; r < HIGH; r++) transform_in<WIDE>(d + r * WIDE, 1);
    float *v = p.v + ((long long)tile * (HIGH * WIDE) * p.ic4 + c);
    UNROLL
    for (int point = 0; point < HIGH * WIDE; point++) v[point * p.ic4] = d[point];
}

/* HALVES: outputs and residuals may be. */
template <int ROWS, int KH, int COLUMNS, int KW, int STRIDE = 1, bool HALVES = false>
static __device__ __forceinline__ void winograd_out(const ig_gpu_winograd &p)
{
    enum { HIGH = (ROWS - 1) * STRIDE + KH, WIDE = (COLUMNS - 1) * STRIDE + KW };
    const int i = blockIdx.x * 128 + threadIdx.x, tile = i / p.oc, c = i - tile * p.oc;
    const int ty = tile / p.tiles_x, y = ty * ROWS, x = (tile - ty * p.tiles_x) * COLUMNS;
    if (ty >= p.tiles_y) return;
    const float *m = p.m + ((long long)tile * (HIGH * WIDE) * p.oc4 + c);
    float d[HIGH * WIDE];
    UNROLL
    for (int point = 0; point < HIGH * WIDE; point++) d[point] = m[point * p.oc4];
    UNROLL
    for (int k = 0; k < WIDE; k++) transform_out<ROWS, HIGH>(d + k, WIDE);
    UNROLL
    for (int r = 0; r < ROWS; r++) transform_out<COLUMNS, WIDE>(d + r * WIDE, 1);
    const float bias = p.bias ? p.bias[c] : 0;
    UNROLL
    for (int r = 0; r < ROWS; r++)
        UNROLL
        for (int k = 0; k < COLUMNS; k++) {
            if (y + r >= p.out_h || x + k >= p.out_w) continue;
            float sum = d[r * WIDE + k] + bias;
            const int of_residual = (y + r) * p.residual_row + (x + k) * p.residual_pixel + c;
            const int of_out = (y + r) * p.out_row + (x + k) * p.out_pixel + c;
            if (p.residual) sum += load_either1(p.residual, of_residual, HALVES && (p.halves & IG_GPU_RESIDUAL_HALVES));
            store_either1(p.out, of_out, HALVES && (p.halves & IG_GPU_OUT_HALVES), activate(p.act, sum));
        }
}

GPU_KERNEL(128, 4, winograd2_in, ig_gpu_winograd)
{
    winograd_in<2, 3, 2, 3>(p);
}

GPU_KERNEL(128, 4, winograd2_out, ig_gpu_winograd)
{
    winograd_out<2, 3, 2, 3>(p);
}

GPU_KERNEL(128, 4, winograd4_in, ig_gpu_winograd)
{
    winograd_in<4, 3, 4, 3>(p);
}

GPU_KERNEL(128, 4, winograd4_out, ig_gpu_winograd)
{
    winograd_out<4, 3, 4, 3>(p);
}

GPU_KERNEL(128, 4, winograd2_in_half, ig_gpu_winograd)
{
    winograd_in<2, 3, 2, 3, 1, binary16>(p);
}

GPU_KERNEL(128, 4, winograd2_out_half, ig_gpu_winograd)
{
    winograd_out<2, 3, 2, 3, 1, true>(p);
}

GPU_KERNEL(128, 4, winograd4_in_half, ig_gpu_winograd)
{
    winograd_in<4, 3, 4, 3, 1, binary16>(p);
}

GPU_KERNEL(128, 4, winograd4_out_half, ig_gpu_winograd)
{
    winograd_out<4, 3, 4, 3, 1, true>(p);
}

GPU_KERNEL(128, 4, winograd2of5_in, ig_gpu_winograd)
{
    winograd_in<2, 5, 2, 5>(p);
}

GPU_KERNEL(128, 4, winograd2of5_out, ig_gpu_winograd)
{
    winograd_out<2, 5, 2, 5>(p);
}

GPU_KERNEL(128, 4, winograd4of5_in, ig_gpu_winograd)
{
    winograd_in<4, 5, 4, 5>(p);
}

GPU_KERNEL(128, 4, winograd4of5_out, ig_gpu_winograd)
{
    winograd_out<4, 5, 4, 5>(p);
}

GPU_KERNEL(128, 4, winograd2of7_in, ig_gpu_winograd)
{
    winograd_in<2, 7, 2, 7>(p);
}

GPU_KERNEL(128, 4, winograd2of7_out, ig_gpu_winograd)
{
    winograd_out<2, 7, 2, 7>(p);
}

GPU_KERNEL(128, 4, winograd4line3_in, ig_gpu_winograd)
{
    winograd_in<1, 1, 4, 3>(p);
}

GPU_KERNEL(128, 4, winograd4line3_out, ig_gpu_winograd)
{
    winograd_out<1, 1, 4, 3>(p);
}

GPU_KERNEL(128, 4, winograd4line5_in, ig_gpu_winograd)
{
    winograd_in<1, 1, 4, 5>(p);
}

GPU_KERNEL(128, 4, winograd4line5_out, ig_gpu_winograd)
{
    winograd_out<1, 1, 4, 5>(p);
}

GPU_KERNEL(128, 4, winograd4line7_in, ig_gpu_winograd)
{
    winograd_in<1, 1, 4, 7>(p);
}

GPU_KERNEL(128, 4, winograd4line7_out, ig_gpu_winograd)
{
    winograd_out<1, 1, 4, 7>(p);
}

GPU_KERNEL(128, 4, winograd2s2_in, ig_gpu_winograd)
{
    winograd_in<2, 3, 2, 3, 2>(p);
}

GPU_KERNEL(128, 4, winograd2s2_out, ig_gpu_winograd)
{
    winograd_out<2, 3, 2, 3, 2>(p);
}

GPU_KERNEL(128, 2, winograd4s2_in, ig_gpu_winograd)
{
    winograd_in<4, 3, 4, 3, 2>(p);
}

GPU_KERNEL(128, 3, winograd4s2_out, ig_gpu_winograd)
{
    winograd_out<4, 3, 4, 3, 2>(p);
}
