/*
 * Winograd's F(4x4, 3x3) of quantised numbers, common/winograd_bytes.h: 4 times fewer products than conv_bytes.c, of numbers of 16 bits.
 * The Cortex-A57 multiplies half as many of these a cycle, so that layers of many channels take little more than half the time. The tiles
 * of products are those of conv_bytes_wide.c (conv_bytes.S), whose panels a point of U is: sums to begin from, [pair of ic][2][16].
 * Transforms take 8 channels at a time, that of sums 4.
 */
#include "kernels_cpu/common/winograd_bytes.h"

#include <string.h>

#include "kernels_cpu/neon/conv_bytes.h"
#include "kernels_cpu/neon/kernels.h"
#include "kernels_cpu/neon/sums_floats.h"

enum {
    M = IG_WINOGRAD_BYTES_M, N = IG_WINOGRAD_BYTES_N, NR = IG_WINOGRAD_BYTES_NR, HEAD = IG_WINOGRAD_BYTES_HEAD,
    MR = 4,     /* tiles of products */
    LANES = 8   /* channels of transforms */
};

#define INLINE static inline __attribute__((always_inline))

typedef void rows_fn(const void *a, int64_t step, const int32_t *panel, int64_t words, int32_t *sums);
rows_fn ig_wide_1x16_neon, ig_wide_2x16_neon, ig_wide_3x16_neon, ig_wide_4x16_neon;

/* --- B^T d --- */

INLINE void pixels_in(const int16x8_t *d, int16x8_t *o)
{
    const int16x8_t even = vsubq_s16(vshlq_n_s16(d[2], 2), d[4]), odd = vsubq_s16(vshlq_n_s16(d[1], 2), d[3]);
    const int16x8_t r = vsubq_s16(d[4], d[2]), half = vsubq_s16(d[3], d[1]), t = vaddq_s16(half, half);
    o[0] = vaddq_s16(vshlq_n_s16(vsubq_s16(d[0], d[2]), 2), r);
    o[1] = vaddq_s16(even, odd);
    o[2] = vsubq_s16(even, odd);
    o[3] = vaddq_s16(r, t);
    o[4] = vsubq_s16(r, t);
    o[5] = vsubq_s16(vsubq_s16(d[5], d[3]), vaddq_s16(t, t));
}

/* Channels [c, c + LANES) of a strip, or the n that there are: first every column, then every row of every tile. */
INLINE void strip_in(const struct ig_winograd_bytes_in *args, int32_t c, const int32_t n)
{
    const uint8x8_t flip = vdup_n_u8((uint8_t)args->flip);
    const uint8_t *const *pixel = args->pixel, *const *end = pixel + (M * (args->tiles - 1) + N) * N;
    const int64_t row = args->row, plane = args->plane;
    int16_t *strip = args->strip;
    int16x8_t d[N], o[N];
    for (; pixel < end; pixel += N, strip += N * LANES) {
#pragma GCC unroll 6
        for (int i = 0; i < N; i++) {
            const uint8x8_t x = n < LANES ? vget_low_u8(ig_bytes_load_some(pixel[i], n)) : vld1_u8(pixel[i] + c);
            d[i] = ig_bytes_widened(veor_u8(x, flip), 1);
        }
        pixels_in(d, o);
#pragma GCC unroll 6
        for (int i = 0; i < N; i++) vst1q_s16(strip + i * LANES, o[i]);
    }
    strip = args->strip;
    for (int32_t t = 0; t < args->tiles; t++, strip += M * N * LANES) {
        int16_t *v = args->v + t * row + c;
        for (int i = 0; i < N; i++) {
#pragma GCC unroll 6
            for (int j = 0; j < N; j++) d[j] = vld1q_s16(strip + (j * N + i) * LANES);
            pixels_in(d, o);
#pragma GCC unroll 6
            for (int j = 0; j < N; j++, v += plane) vst1q_s16(v, o[j]);
        }
    }
}

/* The last eight overlap what is there. */
static void in(const struct ig_winograd_bytes_in *args)
{
    const int32_t ic = args->ic;
    if (ic < LANES) strip_in(args, 0, ic);
    for (int32_t c = 0; c < ic && ic >= LANES; c += LANES) strip_in(args, c + LANES <= ic ? c : ic - LANES, LANES);
}

/* --- G g G^T --- */

/* sum + x times by, of 8 of 16 numbers; or no sum. */
INLINE int16x8_t add_low(int16x8_t sum, int8x16_t x, int8x16_t by, const int is_first)
{
    return is_first ? vmull_s8(vget_low_s8(x), vget_low_s8(by)) : vmlal_s8(sum, vget_low_s8(x), vget_low_s8(by));
}

INLINE int16x8_t add_high(int16x8_t sum, int8x16_t x, int8x16_t by, const int is_first)
{
    return is_first ? vmull_high_s8(x, by) : vmlal_high_s8(sum, x, by);
}

/* h[q][b] += the b-th column's tap times g: q is 0, 1 for the pair's first number, 2, 3 for the second. */
INLINE void add_taps(const int8_t *w, int8_t g, int16x8_t h[][3], const int is_first)
{
    const int8x16_t by = vdupq_n_s8(g);
#pragma GCC unroll 3
    for (int b = 0; b < 3; b++) {
        const int8x16_t low = vld1q_s8(w + b * 16), high = vld1q_s8(w + (IG_WINOGRAD_BYTES_TAPS + b) * 16);
        const int8x16_t first = vuzp1q_s8(low, high), second = vuzp2q_s8(low, high);
        h[0][b] = add_low(h[0][b], first, by, is_first), h[1][b] = add_high(h[1][b], first, by, is_first);
        h[2][b] = add_low(h[2][b], second, by, is_first), h[3][b] = add_high(h[3][b], second, by, is_first);
    }
}

INLINE void filter_out(const int16x8_t *h, int16_t *u, int64_t plane)
{
    const int16x8_t ends = vaddq_s16(h[0], h[2]), far = vaddq_s16(h[0], vshlq_n_s16(h[2], 2)), odd = vaddq_s16(h[1], h[1]);
    vst1q_s16(u, vmulq_n_s16(h[0], 6));
    vst1q_s16(u + plane, vaddq_s16(ends, h[1]));
    vst1q_s16(u + 2 * plane, vsubq_s16(ends, h[1]));
    vst1q_s16(u + 3 * plane, vaddq_s16(far, odd));
    vst1q_s16(u + 4 * plane, vsubq_s16(far, odd));
    vst1q_s16(u + 5 * plane, vmulq_n_s16(h[2], 6));
}

/* The first and the last row have one row of taps. */
static void filter(const struct ig_winograd_bytes_filter *args)
{
    static const int8_t g[N][3] = {{6, 0, 0}, {1, 1, 1}, {1, -1, 1}, {1, 2, 4}, {1, -2, 4}, {0, 0, 6}};
    const int first = args->row == N - 1 ? 2 : 0, last = args->row == 0 ? 0 : 2;
    const int64_t plane = args->plane, pairs = args->pairs;
    const int8_t *w = args->w, *by = g[args->row];
    int16_t *u = args->u + HEAD;
    for (int p = 0; p < N; p++) memset(args->u + p * plane, 0, NR * sizeof(int32_t));
    for (int64_t k = 0; k < pairs; k++, w += 2 * IG_WINOGRAD_BYTES_TAPS * 16, u += 2 * NR) {
        int16x8_t h[4][3];
        add_taps(w + first * 3 * 16, by[first], h, 1);
#pragma GCC unroll 1
        for (int a = first + 1; a <= last; a++) add_taps(w + a * 3 * 16, by[a], h, 0);
#pragma GCC unroll 4
        for (int q = 0; q < 4; q++) filter_out(h[q], u + q * LANES, plane);
    }
}

/* --- products --- */

static void product(const struct ig_winograd_bytes_product *p)
{
    rows_fn *const of[MR] = {ig_wide_1x16_neon, ig_wide_2x16_neon, ig_wide_3x16_neon, ig_wide_4x16_neon};
    for (int32_t i = 0, n; i < p->tiles; i += n) {
        n = p->tiles - i < MR ? p->tiles - i : MR;
        of[n - 1](p->v + i * p->row, p->row * (int64_t)sizeof *p->v, (const int32_t *)(const void *)p->u, p->pairs, p->m + i * NR);
    }
}

/* --- A^T m --- */

/* 24, 12, 6 and 6 times the outputs, modulo 2^32: numbers without a sign. */
INLINE void sums_out(const uint32x4_t *m, uint32x4_t *o)
{
    const uint32x4_t s = vaddq_u32(m[1], m[2]), d = vsubq_u32(m[1], m[2]), s2 = vaddq_u32(m[3], m[4]), d2 = vsubq_u32(m[3], m[4]);
    o[0] = vaddq_u32(vaddq_u32(m[0], vshlq_n_u32(s, 2)), s2);
    o[1] = vaddq_u32(vaddq_u32(d, d), d2);
    o[2] = vaddq_u32(s, s2);
    o[3] = vaddq_u32(vaddq_u32(m[5], d), vaddq_u32(d2, d2));
}

/* 2^(2 + bits[i] + bits[j]) times 9 times the sums: all are made 64 times as much, then shifted by as many bits. */
static void sums(const struct ig_winograd_bytes_sums *args)
{
    static const int bits[M] = {2, 1, 0, 0};
    const uint32_t ninth = 0x38e38e39; /* 9 times it is 1 modulo 2^32 */
    const int64_t plane = args->plane, step = args->step;
    for (int c = 0; c < NR; c += 4) {
        uint32x4_t half[M][N], d[N], o[M];
        for (int j = 0; j < N; j++) {
#pragma GCC unroll 6
            for (int i = 0; i < N; i++) d[i] = vreinterpretq_u32_s32(vld1q_s32(args->m + (i * N + j) * plane + c));
            sums_out(d, o);
            for (int i = 0; i < M; i++) half[i][j] = o[i];
        }
        const int32_t *from = args->from + c;
        int32_t *to = args->to + c;
#pragma GCC unroll 4
        for (int i = 0; i < M; i++) {
            sums_out(half[i], o);
#pragma GCC unroll 4
            for (int j = 0; j < M; j++, from += step, to += NR)
                vst1q_s32(to, vsraq_n_s32(vld1q_s32(from), vreinterpretq_s32_u32(vmulq_n_u32(o[j], ninth << (4 - bits[i] - bits[j]))), 6));
        }
    }
}

static void put(uint8_t *const *to, int64_t at, int32_t rows, const int32_t *sums_of, const float *scale, int32_t n,
                const struct ig_bytes_head *head)
{
    ig_bytes_put_neon(to, at, rows, sums_of, scale, n, head);
}

void qlinear_conv_i8_winograd4_4x16__neon(const struct ig_call *call, struct ig_range range, void *scratch)
{
    static const struct ig_winograd_bytes_set set = {in, filter, product, sums, put, NULL};
    ig_winograd_bytes(call, range, scratch, &set);
}

void conv_integer_i8_winograd4_4x16__neon(const struct ig_call *call, struct ig_range range, void *scratch)
{
    static const struct ig_winograd_bytes_set set = {in, filter, product, sums, put, ig_bytes_floats_neon};
    ig_winograd_bytes(call, range, scratch, &set);
}
