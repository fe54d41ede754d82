/*
 * Pooling with small windows, maximum and average: 2x2 step 2, 3x3 step 1 and 2. First down the columns, then across
 * them, sliding along x: a column of the window that the next one shares is not read again, so that a 3x3 window costs
 * 3 loads at step 1 and 6 at step 2. 32 channels (4 vectors) at a time, at most two columns of them kept, then 8.
 * Rows outside the image are a row inside again (maximum), or zeros (average); columns are none at all. Every output is
 * put together in the same order, wherever the rectangle ends.
 */
#include "kernels_cpu/avx2/kernels.h"
#include "kernels_cpu/avx2/vec.h"
#include "kernels_cpu/common/pool.h"

#define INLINE static inline __attribute__((always_inline))
#define UNROLL _Pragma("GCC unroll 4")

struct window {                /* of one output row */
    const float *row[3];       /* pixel 0, channel 0 */
    int64_t step[3];           /* floats from a pixel to the next; 0: zeros */
    const struct ig_call *call;
    float *out;
    int32_t y, left;
    int max;
    float whole;               /* average: 1 over what a window with all columns inside is divided by */
};

INLINE __m256 combine(__m256 a, __m256 b, int max)
{
    return max ? _mm256_max_ps(a, b) : _mm256_add_ps(a, b);
}

INLINE __m256 none(int max)
{
    return max ? _mm256_set1_ps(-__builtin_inff()) : _mm256_setzero_ps();
}

/* Column x of the window, nv vectors from channel c on; of the last vector n channels are there. */
INLINE void column(const struct window *w, int32_t x, int32_t c, int32_t n, int nv, int kh, __m256 *col)
{
    if (x < 0 || x >= w->call->in[0].w) {
        UNROLL for (int v = 0; v < nv; v++) col[v] = none(w->max);
        return;
    }
    const float *p = w->row[0] + x * w->step[0] + c, *q = w->row[1] + x * w->step[1] + c;
    const float *r = kh == 3 ? w->row[2] + x * w->step[2] + c : NULL;
    UNROLL for (int v = 0; v < nv; v++) {
        col[v] = combine(ig_load_upto8(p + 8 * v, n), ig_load_upto8(q + 8 * v, n), w->max);
        if (kh == 3) col[v] = combine(col[v], ig_load_upto8(r + 8 * v, n), w->max);
    }
}

/* Average: 1 over the divisor of output x. */
INLINE float factor(const struct window *w, int32_t x, int k, int s)
{
    int32_t at = x * s - w->left;
    if (at >= 0 && at + k <= w->call->in[0].w) return w->whole;
    return 1 / ig_pool_view_of(w->call, w->y, x).divisor;
}

/* One row of outputs, nv vectors of channels. Column a, and b at step 1, are kept from the output before. */
INLINE void slide(const struct window *w, int32_t c, int32_t n, int nv, int k, int s)
{
    __m256 a[4], b[4], last[4];
    if (k == 3) column(w, -w->left, c, n, nv, k, a);
    if (s == 1) column(w, 1 - w->left, c, n, nv, k, b);
    for (int32_t x = 0; x < w->call->out[0].w; x++) {
        int32_t at = x * s - w->left;
        if (k == 2) column(w, at, c, n, nv, k, a);
        if (k == 3 && s == 2) column(w, at + 1, c, n, nv, k, b);
        column(w, at + k - 1, c, n, nv, k, last);
        UNROLL for (int v = 0; v < nv; v++) {
            if (k == 3) a[v] = combine(a[v], b[v], w->max);
            a[v] = combine(a[v], last[v], w->max);
        }
        __m256 d = w->max ? none(1) : _mm256_set1_ps(factor(w, x, k, s));
        float *p = w->out + x * w->call->out[0].pixel_stride + c;
        UNROLL for (int v = 0; v < nv; v++) ig_store_upto8(p + 8 * v, w->max ? a[v] : _mm256_mul_ps(a[v], d), n);
        UNROLL for (int v = 0; v < nv; v++) {
            a[v] = s == 1 ? b[v] : last[v];
            if (s == 1) b[v] = last[v];
        }
    }
}

INLINE void channels(const struct window *w, struct ig_range range, int k, int s)
{
    int32_t c = range.c0;
    for (; c + 32 <= range.c1; c += 32) slide(w, c, 8, 4, k, s);
    for (; c < range.c1; c += 8) slide(w, c, range.c1 - c, 1, k, s);
}

INLINE void rows_of(struct window *w, const struct ig_window *v)
{
    const struct ig_operand *in = &w->call->in[0];
    int32_t y0 = w->y * v->sh - v->top, inside = y0 < 0 ? 0 : y0 >= in->h ? in->h - 1 : y0;
    for (int32_t i = 0; i < v->kh; i++) {
        int there = y0 + i >= 0 && y0 + i < in->h;
        w->row[i] = there || w->max ? ig_row_f32(in, there ? y0 + i : inside) : (const float *)w->call->zeros;
        w->step[i] = there || w->max ? in->pixel_stride : 0;
    }
}

INLINE void rows(const struct ig_call *call, struct ig_range range, int max, int k, int s)
{
    const struct ig_window *v = &((const struct ig_pool *)call->attrs)->w;
    struct window w = {.call = call, .left = v->left, .max = max};
    for (w.y = range.y0; w.y < range.y1; w.y++) {
        rows_of(&w, v);
        w.whole = max ? 1 : 1 / ig_pool_view_of(call, w.y, (v->left + s - 1) / s).divisor;
        w.out = ig_row_f32(&call->out[0], w.y);
        channels(&w, range, k, s);
    }
}

void pool_f32_slide8__avx2(const struct ig_call *call, struct ig_range range, void *scratch)
{
    const struct ig_pool *pool = (const struct ig_pool *)call->attrs;
    int max = pool->kind == IG_POOL_MAX, k = pool->w.kw, s = pool->w.sw;
    (void)scratch;
    if (k == 2 && max) rows(call, range, 1, 2, 2);
    else if (k == 2) rows(call, range, 0, 2, 2);
    else if (s == 1 && max) rows(call, range, 1, 3, 1);
    else if (s == 1) rows(call, range, 0, 3, 1);
    else if (max) rows(call, range, 1, 3, 2);
    else rows(call, range, 0, 3, 2);
}
