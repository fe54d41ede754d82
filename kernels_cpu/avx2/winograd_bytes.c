/*
 * Winograd's F(4x4, 3x3) of quantised numbers, common/winograd_bytes.h: 4 times fewer products than conv_bytes.c, of pairs of 16 bits
 * as there. Tiles of 6 by 16 channels have 12 sums, two vectors of weights and a pair of V; transforms take 16 channels at a time,
 * that of sums 8.
 */
#include "kernels_cpu/common/winograd_bytes.h"

#include "kernels_cpu/avx2/conv_bytes.h"
#include "kernels_cpu/avx2/kernels.h"
#include "kernels_cpu/avx2/sums_floats.h"

enum { M = IG_WINOGRAD_BYTES_M, N = IG_WINOGRAD_BYTES_N, NR = IG_WINOGRAD_BYTES_NR, MR = IG_WINOGRAD_BYTES_MR, LANES = IG_WINOGRAD_BYTES_LANES };

#define INLINE static inline __attribute__((always_inline))

typedef __m256i vec;

INLINE vec load(const void *from)
{
    return _mm256_loadu_si256((const __m256i *)from);
}

INLINE void store(void *to, vec x)
{
    _mm256_storeu_si256((__m256i *)to, x);
}

/* --- B^T d --- */

INLINE void pixels_in(const vec *d, vec *o)
{
    const vec even = _mm256_sub_epi16(_mm256_slli_epi16(d[2], 2), d[4]), odd = _mm256_sub_epi16(_mm256_slli_epi16(d[1], 2), d[3]);
    const vec r = _mm256_sub_epi16(d[4], d[2]), half = _mm256_sub_epi16(d[3], d[1]), t = _mm256_add_epi16(half, half);
    o[0] = _mm256_add_epi16(_mm256_slli_epi16(_mm256_sub_epi16(d[0], d[2]), 2), r);
    o[1] = _mm256_add_epi16(even, odd);
    o[2] = _mm256_sub_epi16(even, odd);
    o[3] = _mm256_add_epi16(r, t);
    o[4] = _mm256_sub_epi16(r, t);
    o[5] = _mm256_sub_epi16(_mm256_sub_epi16(d[5], d[3]), _mm256_add_epi16(t, t));
}

/* Channels [c, c + LANES) of a strip, or the n that there are: first every column, then every row of every tile. */
INLINE void strip_in(const struct ig_winograd_bytes_in *args, int32_t c, const int32_t n)
{
    const __m128i flip = _mm_set1_epi8((char)args->flip);
    const uint8_t *const *pixel = args->pixel, *const *end = pixel + (M * (args->tiles - 1) + N) * N;
    int16_t *strip = args->strip;
    vec d[N], o[N];
    for (; pixel < end; pixel += N, strip += N * LANES) {
#pragma GCC unroll 6
        for (int i = 0; i < N; i++) {
            const __m128i x = n < LANES ? ig_bytes_load_some(pixel[i], n) : _mm_loadu_si128((const __m128i *)(pixel[i] + c));
            d[i] = _mm256_cvtepi8_epi16(_mm_xor_si128(x, flip));
        }
        pixels_in(d, o);
#pragma GCC unroll 6
        for (int i = 0; i < N; i++) store(strip + i * LANES, o[i]);
    }
    strip = args->strip;
    for (int32_t t = 0; t < args->tiles; t++, strip += M * N * LANES) {
        int16_t *v = args->v + t * args->row + c;
        for (int i = 0; i < N; i++) {
#pragma GCC unroll 6
            for (int j = 0; j < N; j++) d[j] = load(strip + (j * N + i) * LANES);
            pixels_in(d, o);
#pragma GCC unroll 6
            for (int j = 0; j < N; j++, v += args->plane) store(v, o[j]);
        }
    }
}

/* The last sixteen overlap what is there. */
static void in(const struct ig_winograd_bytes_in *args)
{
    const int32_t ic = args->ic;
    if (ic < LANES) strip_in(args, 0, ic);
    for (int32_t c = 0; c < ic && ic >= LANES; c += LANES) strip_in(args, c + LANES <= ic ? c : ic - LANES, LANES);
}

/* --- G g G^T --- */

INLINE vec mul(vec x, int16_t by)
{
    return _mm256_mullo_epi16(x, _mm256_set1_epi16(by));
}

/* The first and the last row have one row of taps. */
INLINE void filter_row(const struct ig_winograd_bytes_filter *args, const int is_end, const int16_t *g)
{
    const int64_t plane = args->plane, plane3 = 3 * plane;
    const int8_t *w = args->w + (is_end && args->row ? 2 * 3 * 16 : 0);
    int16_t *u = args->u;
    for (int64_t k = 0; k < 2 * args->pairs; k++, w += IG_WINOGRAD_BYTES_TAPS * 16, u += 16) {
        vec h[3];
#pragma GCC unroll 3
        for (int b = 0; b < 3; b++) {
            const __m128i *at = (const __m128i *)(w + b * 16);
            const vec first = _mm256_cvtepi8_epi16(_mm_loadu_si128(at));
            if (is_end) {
                h[b] = mul(first, 6);
                continue;
            }
            const vec second = mul(_mm256_cvtepi8_epi16(_mm_loadu_si128(at + 3)), g[1]), third = mul(_mm256_cvtepi8_epi16(_mm_loadu_si128(at + 6)), g[2]);
            h[b] = _mm256_add_epi16(_mm256_add_epi16(first, third), second);
        }
        const vec ends = _mm256_add_epi16(h[0], h[2]), far = _mm256_add_epi16(h[0], _mm256_slli_epi16(h[2], 2)), odd = _mm256_add_epi16(h[1], h[1]);
        store(u, mul(h[0], 6));
        store(u + plane, _mm256_add_epi16(ends, h[1]));
        store(u + 2 * plane, _mm256_sub_epi16(ends, h[1]));
        store(u + plane3, _mm256_add_epi16(far, odd));
        store(u + 4 * plane, _mm256_sub_epi16(far, odd));
        store(u + plane3 + 2 * plane, mul(h[2], 6));
    }
}

static void filter(const struct ig_winograd_bytes_filter *args)
{
    static const int16_t g[N][3] = {{6, 0, 0}, {1, 1, 1}, {1, -1, 1}, {1, 2, 4}, {1, -2, 4}, {0, 0, 6}};
    if (args->row == 0 || args->row == N - 1) filter_row(args, 1, g[args->row]);
    else filter_row(args, 0, g[args->row]);
}

/* --- products --- */

INLINE void product_of(const struct ig_winograd_bytes_product *p, const int rows, int32_t first)
{
    const int64_t step = p->row, pairs = p->pairs;
    const int16_t *v = p->v + first * step, *u = p->u;
    int32_t *m = p->m + first * NR;
    vec s[MR][2];
#pragma GCC unroll 6
    for (int i = 0; i < rows; i++) s[i][0] = s[i][1] = _mm256_setzero_si256();
    for (int64_t k = 0; k < pairs; k++, v += 2, u += 2 * NR) {
        const vec low = load(u), high = load(u + NR);
#pragma GCC unroll 6
        for (int i = 0; i < rows; i++) {
            int32_t word;
            __builtin_memcpy(&word, v + i * step, sizeof word);
            const vec x = _mm256_set1_epi32(word);
            s[i][0] = _mm256_add_epi32(s[i][0], _mm256_madd_epi16(x, low));
            s[i][1] = _mm256_add_epi32(s[i][1], _mm256_madd_epi16(x, high));
        }
    }
#pragma GCC unroll 6
    for (int i = 0; i < rows; i++) store(m + i * NR, s[i][0]), store(m + i * NR + 8, s[i][1]);
}

/* Tiles in groups that are as equal as can be. */
static void product(const struct ig_winograd_bytes_product *p)
{
    const int32_t groups = (p->tiles + MR - 1) / MR, rows = p->tiles / groups, more = p->tiles % groups;
    for (int32_t i = 0, first = 0, n; i < groups; i++, first += n) {
        n = rows + (i < more);
        switch (n) {
        case 1: product_of(p, 1, first); break;
        case 2: product_of(p, 2, first); break;
        case 3: product_of(p, 3, first); break;
        case 4: product_of(p, 4, first); break;
        case 5: product_of(p, 5, first); break;
        default: product_of(p, MR, first);
        }
    }
}

/* --- A^T m --- */

/* 24, 12, 6 and 6 times the outputs. */
INLINE void sums_out(const vec *m, vec *o)
{
    const vec s = _mm256_add_epi32(m[1], m[2]), d = _mm256_sub_epi32(m[1], m[2]);
    const vec s2 = _mm256_add_epi32(m[3], m[4]), d2 = _mm256_sub_epi32(m[3], m[4]);
    o[0] = _mm256_add_epi32(_mm256_add_epi32(m[0], _mm256_slli_epi32(s, 2)), s2);
    o[1] = _mm256_add_epi32(_mm256_add_epi32(d, d), d2);
    o[2] = _mm256_add_epi32(s, s2);
    o[3] = _mm256_add_epi32(_mm256_add_epi32(m[5], d), _mm256_add_epi32(d2, d2));
}

static void sums(const struct ig_winograd_bytes_sums *args)
{
    static const int bits[M] = {2, 1, 0, 0};
    const vec ninth = _mm256_set1_epi32(0x38e38e39); /* 9 times it is 1 modulo 2^32 */
    const int64_t plane = args->plane, step = args->step;
    for (int c = 0; c < NR; c += 8) {
        vec half[M][N], d[N], o[M];
        for (int j = 0; j < N; j++) {
#pragma GCC unroll 6
            for (int i = 0; i < N; i++) d[i] = load(args->m + (i * N + j) * plane + c);
            sums_out(d, o);
            for (int i = 0; i < M; i++) half[i][j] = o[i];
        }
        const int32_t *from = args->from + c;
        int32_t *to = args->to + c;
#pragma GCC unroll 4
        for (int i = 0; i < M; i++) {
            sums_out(half[i], o);
#pragma GCC unroll 4
            for (int j = 0; j < M; j++, from += step, to += NR) {
                const vec sum = _mm256_srai_epi32(_mm256_mullo_epi32(o[j], ninth), 2 + bits[i] + bits[j]);
                store(to, _mm256_add_epi32(load(from), sum));
            }
        }
    }
}

static void put(uint8_t *const *to, int64_t at, int32_t rows, const int32_t *sums_of, const float *scale, int32_t n,
                const struct ig_bytes_head *head)
{
    ig_bytes_put_avx2(to, at, rows, sums_of, NR, scale, n, head);
}

void qlinear_conv_i8_winograd4_6x16__avx2(const struct ig_call *call, struct ig_range range, void *scratch)
{
    static const struct ig_winograd_bytes_set set = {in, filter, product, sums, put, NULL};
    ig_winograd_bytes(call, range, scratch, &set);
}

void conv_integer_i8_winograd4_6x16__avx2(const struct ig_call *call, struct ig_range range, void *scratch)
{
    static const struct ig_winograd_bytes_set set = {in, filter, product, sums, put, ig_bytes_floats_avx2};
    ig_winograd_bytes(call, range, scratch, &set);
}
