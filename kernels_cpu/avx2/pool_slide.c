/*
 * Pooling with small windows, maximum and average: 2x2 and 3x3, step 1 and 2.
 *   2x2   four pixels become one
 *   3x3   first across, sliding along x, so that a pixel is read once (the first of the next window at step 2 too);
 *         then down, where the rows that the next output row shares are kept as they came out of the first: one at
 *         step 2, two at step 1. To read a row again costs as much as to read a new one where an image is larger than
 *         the first-level cache; the kept rows of a tile of outputs (64 channels, 28 or 14 across) stay in it.
 * 32 channels (4 vectors) at a time, then 8. Rows and columns outside the image are those at its edge (maximum), or
 * zeros (average). Every output is put together in the same order, wherever the rectangle ends.
 */
#include <stdint.h>

#include "kernels_cpu/avx2/kernels.h"
#include "kernels_cpu/avx2/vec.h"
#include "kernels_cpu/common/pool.h"

#define INLINE static inline __attribute__((always_inline))
#define NOINLINE static __attribute__((noinline))
#define UNROLL _Pragma("GCC unroll 4")

enum { GROUP = 64, TILE = 28, KEPT = TILE * GROUP }; /* channels, outputs across, floats of a kept row */

struct window {                  /* of one output row */
    const struct ig_call *call;
    const float *row[3];         /* pixel 0, channel 0 */
    int64_t step[3];             /* floats from a pixel to the next; 0: zeros */
    float *out;
    int64_t out_step;
    int32_t y, left, width;      /* width: of the input */
    int32_t inside0, inside1;    /* outputs whose new columns are inside: [inside0, inside1) */
    int max;
    const float *factor;         /* average: 1 over what each output of the tile is divided by */
};

INLINE __m256 combine(__m256 a, __m256 b, int max)
{
    return max ? _mm256_max_ps(a, b) : _mm256_add_ps(a, b);
}

/* Channels from c on of column x of the window's row i. */
INLINE const float *column(const struct window *w, int i, int32_t x, int32_t c)
{
    int32_t edge = x < 0 ? 0 : x >= w->width ? w->width - 1 : x;
    return x == edge || w->max ? w->row[i] + edge * w->step[i] + c : (const float *)w->call->zeros;
}

INLINE void put(const struct window *w, float *p, int32_t n, __m256 v, __m256 factor)
{
    ig_store_upto8(p, w->max ? v : _mm256_mul_ps(v, factor), n);
}

/* 2x2: a row of outputs, nv vectors from channel c on, of the last of which n channels are there. */
INLINE void pairs(const struct window *w, int32_t c, int32_t n, int nv, int s, float whole)
{
    float *out = w->out + c;
    for (int32_t x = 0, in = -w->left; x < w->call->out[0].w; x++, in += s, out += w->out_step) {
        const float *p = w->row[0] + in * w->step[0] + c, *r = w->row[1] + in * w->step[1] + c;
        const float *q = p + w->step[0], *t = r + w->step[1];
        __m256 factor = _mm256_set1_ps(whole);
        if (in < 0 || in + 1 >= w->width) {
            p = column(w, 0, in, c);
            q = column(w, 0, in + 1, c);
            r = column(w, 1, in, c);
            t = column(w, 1, in + 1, c);
            if (!w->max) factor = _mm256_set1_ps(1 / ig_pool_view_of(w->call, w->y, x).divisor);
        }
        UNROLL for (int v = 0; v < nv; v++) {
            __m256 a = combine(ig_load_upto8(p + 8 * v, n), ig_load_upto8(r + 8 * v, n), w->max);
            __m256 b = combine(ig_load_upto8(q + 8 * v, n), ig_load_upto8(t + 8 * v, n), w->max);
            put(w, out + 8 * v, n, combine(a, b, w->max), factor);
        }
    }
}

/* 3x3: row i across, outputs [x0, x1), into `kept`. */
INLINE void across(const struct window *w, int i, int32_t x0, int32_t x1, int32_t c, int32_t n, int nv, int s,
                   float *kept)
{
    for (int32_t x = x0; x < x1; x++, kept += GROUP) {
        int32_t in = x * s - w->left;
        const float *p = column(w, i, in, c), *q = column(w, i, in + 1, c), *r = column(w, i, in + 2, c);
        UNROLL for (int v = 0; v < nv; v++) {
            __m256 two = combine(ig_load_upto8(p + 8 * v, n), ig_load_upto8(q + 8 * v, n), w->max);
            _mm256_store_ps(kept + 8 * v, combine(two, ig_load_upto8(r + 8 * v, n), w->max));
        }
    }
}

/* The same, for 4 vectors or one: once in the code, as it is the first rows of a tile only. */
NOINLINE void first_row(const struct window *w, int i, int32_t x0, int32_t x1, int32_t c, int32_t n, int nv, int s,
                        float *kept)
{
    if (nv == 4) across(w, i, x0, x1, c, 8, 4, s, kept);
    else across(w, i, x0, x1, c, n, 1, s, kept);
}

struct slide {                   /* nv vectors that go along a row of outputs */
    __m256 a[4], b[4];           /* step 1: the first two columns of the last row; step 2: the first of the last two */
    float *old, *kept;           /* what came out of the row before the last but one (step 1), of the last but one */
    float *out;
    const float *factor;
};

struct columns {                 /* that come new with an output: of the last row, and of the one before at step 2 */
    const float *mid, *last, *mid1, *last1;
};

/* 3x3: an output. The row that the next output row does not share makes room for the last one's. */
INLINE void output(const struct window *w, struct slide *t, struct columns in, int32_t n, int nv, int s)
{
    __m256 factor = w->max ? _mm256_setzero_ps() : _mm256_broadcast_ss(t->factor++);
    UNROLL for (int v = 0; v < nv; v++) {
        __m256 last = ig_load_upto8(in.last + 8 * v, n), row, sum;
        if (s == 1) {
            row = combine(combine(t->a[v], t->b[v], w->max), last, w->max);
            sum = combine(_mm256_load_ps(t->old + 8 * v), _mm256_load_ps(t->kept + 8 * v), w->max);
            _mm256_store_ps(t->old + 8 * v, row);
            t->a[v] = t->b[v];
        } else {
            __m256 last1 = ig_load_upto8(in.last1 + 8 * v, n);
            __m256 row1 = combine(combine(t->a[v], ig_load_upto8(in.mid1 + 8 * v, n), w->max), last1, w->max);
            row = combine(combine(t->b[v], ig_load_upto8(in.mid + 8 * v, n), w->max), last, w->max);
            sum = combine(_mm256_load_ps(t->kept + 8 * v), row1, w->max);
            _mm256_store_ps(t->kept + 8 * v, row);
            t->a[v] = last1;
        }
        t->b[v] = last;
        put(w, t->out + 8 * v, n, combine(sum, row, w->max), factor);
    }
    t->old += GROUP;
    t->kept += GROUP;
    t->out += w->out_step;
}

/* Outputs [x0, x1) whose new columns may be outside. */
INLINE void at_edge(const struct window *w, struct slide *t, int32_t x0, int32_t x1, int32_t c, int32_t n, int nv,
                    int s)
{
    for (int32_t x = x0; x < x1; x++) {
        int32_t end = x * s - w->left + 2;
        output(w, t, (struct columns){column(w, 2, end - 1, c), column(w, 2, end, c), column(w, 1, end - 1, c),
                                      column(w, 1, end, c)}, n, nv, s);
    }
}

/* Outputs [x0, x1) whose new columns are inside. */
INLINE void inside(const struct window *w, struct slide *t, int32_t x0, int32_t x1, int32_t c, int32_t n, int nv, int s)
{
    int64_t step1 = w->step[1], step2 = w->step[2], end = x0 * s - w->left + 2;
    const float *p = w->row[1] + end * step1 + c, *q = w->row[2] + end * step2 + c;
    for (int32_t x = x0; x < x1; x++, p += s * step1, q += s * step2)
        output(w, t, (struct columns){q - step2, q, p - step1, p}, n, nv, s);
}

INLINE void outputs(const struct window *w, int32_t x0, int32_t x1, int32_t c, int32_t n, int nv, int s, float *old,
                    float *kept)
{
    struct slide t = {.old = old, .kept = kept, .out = w->out + x0 * w->out_step + c, .factor = w->factor};
    int32_t in = x0 * s - w->left, i0 = w->inside0 < x0 ? x0 : w->inside0 > x1 ? x1 : w->inside0;
    int32_t i1 = w->inside1 < i0 ? i0 : w->inside1 > x1 ? x1 : w->inside1;
    const float *a = column(w, s == 1 ? 2 : 1, in, c), *b = column(w, 2, s == 1 ? in + 1 : in, c);
    UNROLL for (int v = 0; v < nv; v++) {
        t.a[v] = ig_load_upto8(a + 8 * v, n);
        t.b[v] = ig_load_upto8(b + 8 * v, n);
    }
    for (int32_t from = x0, to = i0;; from = i1, to = x1) { /* before and behind: once in the code */
        at_edge(w, &t, from, to, c, n, nv, s);
        if (to == x1) return;
        inside(w, &t, i0, i1, c, n, nv, s);
        if (i1 == x1) return;
    }
}

/* What is left of the channels, 8 at a time: any step, maximum or average. */
NOINLINE void narrow(const struct window *w, int fresh, int32_t x0, int32_t x1, int32_t c, int32_t n, int s, float *old,
                     float *next)
{
    if (fresh) first_row(w, 0, x0, x1, c, n, 1, s, old);
    if (fresh && s == 1) first_row(w, 1, x0, x1, c, n, 1, s, next);
    outputs(w, x0, x1, c, n, 1, s, old, next);
}

INLINE void rows_of(struct window *w, int32_t y)
{
    const struct ig_window *v = &((const struct ig_pool *)w->call->attrs)->w;
    const struct ig_operand *in = &w->call->in[0];
    for (int32_t i = 0; i < v->kh; i++) {
        int32_t row = y * v->sh - v->top + i, edge = row < 0 ? 0 : row >= in->h ? in->h - 1 : row;
        int there = row == edge || w->max;
        w->row[i] = there ? ig_row_f32(in, edge) : (const float *)w->call->zeros;
        w->step[i] = there ? in->pixel_stride : 0;
    }
    w->y = y;
    w->out = ig_row_f32(&w->call->out[0], y);
}

/*
 * Where a kept row begins, 0 to 63 floats on: half a pixel of 64 channels away from the input. A load waits for a store
 * of a moment ago whose address has the same lowest 12 bits; those of 32 channels that are read and of 32 that are kept
 * differ then, wherever pixels are multiples of 64 channels.
 */
INLINE int far_from(const float *input)
{
    return (int)(((uintptr_t)input + 128) % 256 / 32 * 8);
}

/* 3x3: the channels of the range, outputs [x0, x1) of all its rows. factors: see `divide`. */
INLINE void group(struct window *w, struct ig_range range, int32_t x0, int32_t x1, int s, float factors[4][TILE])
{
    _Alignas(256) float room[2 * KEPT + 64];
    float *kept = room + far_from((const float *)w->call->in[0].data + range.c0);
    int shared = ((const struct ig_pool *)w->call->attrs)->w.sh == s;
    for (int32_t y = range.y0; y < range.y1; y++) {
        float *old = kept + (y & 1) * KEPT, *next = kept + (~y & 1) * KEPT;
        int32_t c = range.c0, fresh = y == range.y0 || !shared;
        if (s == 2) old = next = kept;
        rows_of(w, y);
        if (!w->max) w->factor = factors[ig_pool_counted_rows(w->call, y)];
        for (; c + 32 <= range.c1; c += 32, old += 32, next += 32) {
            if (fresh) first_row(w, 0, x0, x1, c, 8, 4, s, old);
            if (fresh && s == 1) first_row(w, 1, x0, x1, c, 8, 4, s, next);
            outputs(w, x0, x1, c, 8, 4, s, old, next);
        }
        for (; c < range.c1; c += 8, old += 8, next += 8) narrow(w, fresh, x0, x1, c, range.c1 - c, s, old, next);
    }
}

/* 2x2: what is left of the channels. */
NOINLINE void narrow_pairs(const struct window *w, int32_t c, int32_t n, int s, float whole)
{
    pairs(w, c, n, 1, s, whole);
}

/* 2x2: the range. */
INLINE void rows_of_pairs(struct window *w, struct ig_range range, int s)
{
    for (int32_t y = range.y0; y < range.y1; y++) {
        int32_t c = range.c0;
        rows_of(w, y);
        float whole = w->max ? 1 : 1 / ig_pool_view_of(w->call, y, (w->left + s - 1) / s).divisor;
        for (; c + 32 <= range.c1; c += 32) pairs(w, c, 8, 4, s, whole);
        for (; c < range.c1; c += 8) narrow_pairs(w, c, range.c1 - c, s, whole);
    }
}

/* 1 over the divisors of outputs [x0, x1), by how many rows of the window count. */
INLINE void divide(const struct ig_call *call, int32_t x0, int32_t x1, float factors[4][TILE])
{
    for (int32_t x = x0; x < x1; x++) {
        int32_t columns = ig_pool_counted_columns(call, x);
        for (int32_t rows = 0; rows < 4; rows++)
            factors[rows][x - x0] = rows * columns > 1 ? 1 / (float)(rows * columns) : 1;
    }
}

/* 3x3: the range. */
INLINE void tiles(struct window *w, struct ig_range range, int s)
{
    const struct ig_operand *in = &w->call->in[0], *out = &w->call->out[0];
    float factors[4][TILE];
    int32_t end = in->w + w->left - 3, tile = TILE / s;
    w->inside0 = w->left > 3 - s ? (w->left - (3 - s) + s - 1) / s : 0;
    w->inside1 = end < 0 ? 0 : end / s + 1;
    for (int32_t x = 0; x < out->w; x += tile) {
        int32_t x1 = x + tile < out->w ? x + tile : out->w;
        if (!w->max) divide(w->call, x, x1, factors);
        for (int32_t c = range.c0; c < range.c1; c += GROUP) {
            struct ig_range some = {range.y0, range.y1, c, c + GROUP < range.c1 ? c + GROUP : range.c1};
            group(w, some, x, x1, s, factors);
        }
    }
}

INLINE void pool(const struct ig_call *call, struct ig_range range, int max, int k, int s)
{
    struct window w = {.call = call, .left = ((const struct ig_pool *)call->attrs)->w.left, .width = call->in[0].w,
                       .out_step = call->out[0].pixel_stride, .max = max};
    if (k == 2) rows_of_pairs(&w, range, s);
    else tiles(&w, range, s);
}

void pool_f32_slide8__avx2(const struct ig_call *call, struct ig_range range, void *scratch)
{
    const struct ig_pool *attrs = (const struct ig_pool *)call->attrs;
    int max = attrs->kind == IG_POOL_MAX, k = attrs->w.kw, s = attrs->w.sw;
    (void)scratch;
    if (k == 2 && max) pool(call, range, 1, 2, s);
    else if (k == 2) pool(call, range, 0, 2, s);
    else if (s == 1 && max) pool(call, range, 1, 3, 1);
    else if (s == 1) pool(call, range, 0, 3, 1);
    else if (max) pool(call, range, 1, 3, 2);
    else pool(call, range, 0, 3, 2);
}
