/*
 * Resize of the image's rows and columns, channels in vectors of 8.
 *   nearest by a whole factor: out[y][x] = in[y / k][x / k]
 *   linear: the four pixels around (sy, sx), sx = (x + 1/2)/scale - 1/2 or another of ONNX's maps; pixels outside the
 *           image are the nearest inside. First along x, then along y; of a tile of outputs the rows that came out of
 *           the first are kept for all output rows between them. Halves, on either side, are widened and narrowed in registers.
 */
#include <string.h>

#include "kernels_cpu/avx2/kernels.h"
#include "kernels_cpu/avx2/vec.h"
#include "kernels_cpu/common/resize.h"

enum { TILE = 28, GROUP = 64 }; /* outputs across, channels */

void resize_f32_nearest__avx2(const struct ig_call *call, struct ig_range range, void *scratch)
{
    (void)scratch;
    ig_resize_nearest(call, range, sizeof(float));
}

void resize_b16_nearest__avx2(const struct ig_call *call, struct ig_range range, void *scratch)
{
    (void)scratch;
    ig_resize_nearest(call, range, sizeof(uint16_t));
}

void resize_b8_nearest__avx2(const struct ig_call *call, struct ig_range range, void *scratch)
{
    (void)scratch;
    ig_resize_nearest(call, range, 1);
}

struct columns {             /* of a tile's outputs: elements to their two pixels, and the weight of the second */
    int64_t lo[TILE], hi[TILE];
    float weight[TILE];
};

static void columns_of(const struct ig_operand *in, const struct ig_resize_dim *d, int32_t x0, int32_t n,
                       struct columns *c)
{
    for (int32_t i = 0; i < n; i++) {
        struct ig_between b = ig_resize_between(d, x0 + i);
        c->lo[i] = b.lo * in->pixel_stride;
        c->hi[i] = b.hi * in->pixel_stride;
        c->weight[i] = b.weight;
    }
}

/* Number i of floats or of halves. */
static inline void *element(const void *of, int64_t i, const int half)
{
    return half ? (void *)((uint16_t *)(uintptr_t)of + i) : (void *)((float *)(uintptr_t)of + i);
}

/* n <= 8 channels, of floats or of halves, the rest zero. */
static inline __attribute__((always_inline)) __m256 load(const void *from, int64_t n, const int half)
{
    uint16_t some[8] = {0};
    if (!half) return n < 8 ? ig_load_upto8((const float *)from, n) : _mm256_loadu_ps((const float *)from);
    if (n < 8) from = memcpy(some, from, (size_t)n * sizeof *some);
    return _mm256_cvtph_ps(_mm_loadu_si128((const __m128i *)from));
}

/* 0: to nearest, ties to even. */
static inline __attribute__((always_inline)) void store(void *to, __m256 v, int64_t n, const int half)
{
    uint16_t some[8];
    if (!half && n < 8) ig_store_part((float *)to, v, n);
    else if (!half) _mm256_storeu_ps((float *)to, v);
    if (!half) return;
    _mm_storeu_si128(n < 8 ? (__m128i *)some : (__m128i *)to, _mm256_cvtps_ph(v, 0));
    if (n < 8) memcpy(to, some, (size_t)n * sizeof *some);
}

/* A row of the input at the columns of `pixels` outputs, n channels each, `step` floats apart; and up to 7 more. */
static inline __attribute__((always_inline)) void across(const void *row, const struct columns *at, int32_t pixels, int32_t n, float *y, int64_t step,
                                                         const int half)
{
    for (int32_t x = 0; x < pixels; x++, y += step) {
        void *a = element(row, at->lo[x], half), *b = element(row, at->hi[x], half);
        __m256 x1 = _mm256_broadcast_ss(&at->weight[x]), x0 = _mm256_sub_ps(_mm256_set1_ps(1), x1);
        int32_t i = 0;
        for (; i + 8 <= n; i += 8) {
            __m256 left = _mm256_mul_ps(load(element(a, i, half), 8, half), x0);
            _mm256_storeu_ps(y + i, _mm256_fmadd_ps(load(element(b, i, half), 8, half), x1, left));
        }
        if (i == n) continue;
        __m256 left = _mm256_mul_ps(load(element(a, i, half), n - i, half), x0);
        _mm256_storeu_ps(y + i, _mm256_fmadd_ps(load(element(b, i, half), n - i, half), x1, left));
    }
}

/* n floats between two rows. */
static inline __attribute__((always_inline)) void down(const float *upper, const float *lower, __m256 y0, __m256 y1, int64_t n, void *y,
                                                       const int half)
{
    int64_t i = 0;
    for (; i + 8 <= n; i += 8) {
        __m256 first = _mm256_mul_ps(_mm256_loadu_ps(upper + i), y0);
        store(element(y, i, half), _mm256_fmadd_ps(_mm256_loadu_ps(lower + i), y1, first), 8, half);
    }
    if (i == n) return;
    __m256 first = _mm256_mul_ps(_mm256_loadu_ps(upper + i), y0);
    store(element(y, i, half), _mm256_fmadd_ps(_mm256_loadu_ps(lower + i), y1, first), n - i, half);
}

/*
 * The range's rows and channels of `pixels` outputs from x0 on. The rows that an output row lies between serve the next
 * ones. They have the gaps between pixels that the output has, or more: none makes a tile's row one run.
 */
static inline __attribute__((always_inline)) void tile(const struct ig_call *call, struct ig_range range, const struct ig_resize_dim *rows,
                                                       const struct columns *at, int32_t x0, int32_t pixels, const int in_half, const int out_half)
{
    _Alignas(64) float kept[2][TILE * GROUP + 8];
    const struct ig_operand *in = &call->in[0], *out = &call->out[0];
    int32_t n = range.c1 - range.c0, holds[2] = {-1, -1}, dense = out->pixel_stride == n;
    int32_t step = dense ? n : GROUP, runs = dense ? 1 : pixels, run = dense ? pixels * n : n;
    for (int32_t y = range.y0; y < range.y1; y++) {
        struct ig_between v = ig_resize_between(rows, y);
        for (int32_t row = v.lo; row <= v.hi; row++) {
            if (holds[row & 1] == row) continue;
            across(element(ig_row(in, row, in_half ? 2 : 4), range.c0, in_half), at, pixels, n, kept[row & 1], step, in_half);
            holds[row & 1] = row;
        }
        __m256 y1 = _mm256_set1_ps(v.weight), y0 = _mm256_set1_ps(1 - v.weight);
        void *to = element(ig_row(out, y, out_half ? 2 : 4), x0 * out->pixel_stride + range.c0, out_half);
        for (int32_t i = 0; i < runs; i++)
            down(kept[v.lo & 1] + i * step, kept[v.hi & 1] + i * step, y0, y1, run, element(to, i * out->pixel_stride, out_half), out_half);
    }
}

/* A tile of the types that the call has: a function each. */
#define TILE_OF(name, in_half, out_half)                                                                                                    \
    static void name(const struct ig_call *call, struct ig_range range, const struct ig_resize_dim *rows, const struct columns *at,          \
                     int32_t x0, int32_t pixels)                                                                                             \
    {                                                                                                                                        \
        tile(call, range, rows, at, x0, pixels, in_half, out_half);                                                                          \
    }
TILE_OF(floats, 0, 0)
TILE_OF(floats_to_halves, 0, 1)
TILE_OF(halves_to_floats, 1, 0)
TILE_OF(halves, 1, 1)

static void linear(const struct ig_call *call, struct ig_range range)
{
    const struct ig_resize *r = (const struct ig_resize *)call->attrs;
    const struct ig_operand *in = &call->in[0], *out = &call->out[0];
    struct ig_resize_dim rows = ig_resize_dim_of(r->coord, in->h, out->h, r->scale[1]);
    struct ig_resize_dim columns = ig_resize_dim_of(r->coord, in->w, out->w, r->scale[2]);
    const int in_half = in->shape->type == IG_F16, out_half = out->shape->type == IG_F16;
    struct columns at;
    for (int32_t x = 0; x < out->w; x += TILE) {
        int32_t pixels = out->w - x < TILE ? out->w - x : TILE;
        columns_of(in, &columns, x, pixels, &at);
        for (int32_t c = range.c0; c < range.c1; c += GROUP) {
            const struct ig_range part = {range.y0, range.y1, c, c + GROUP < range.c1 ? c + GROUP : range.c1};
            if (!in_half && !out_half) floats(call, part, &rows, &at, x, pixels);
            else if (!in_half) floats_to_halves(call, part, &rows, &at, x, pixels);
            else if (!out_half) halves_to_floats(call, part, &rows, &at, x, pixels);
            else halves(call, part, &rows, &at, x, pixels);
        }
    }
}

void resize_f32_linear__avx2(const struct ig_call *call, struct ig_range range, void *scratch)
{
    (void)scratch;
    linear(call, range);
}

void resize_f16_linear__avx2(const struct ig_call *call, struct ig_range range, void *scratch)
{
    (void)scratch;
    linear(call, range);
}
