/* Pooling: which taps of an output's window are inside the image, and what an average is divided by. */
#ifndef KERNELS_CPU_COMMON_POOL_H
#define KERNELS_CPU_COMMON_POOL_H

#include "kernels_cpu/kernel.h"

struct ig_pool_view {        /* the part of one output's window that is inside the image */
    const struct ig_operand *in;
    int32_t y, x;            /* the first tap in it, input coordinates */
    int32_t depths, rows, columns; /* taps */
    int32_t dd, dh, dw;      /* rows from a depth's tap to the next's, rows, columns from a tap to the next */
    int32_t counted;         /* taps of a column that an average counts */
    float divisor;           /* average: what the sum is divided by; >= 1 */
};

/* Taps k of `taps` with 0 <= start + k*dilation < end: the first's coordinate, and their number. */
static inline int32_t ig_pool_taps(int32_t start, int32_t taps, int32_t dilation, int32_t end, int32_t *first)
{
    int32_t k0 = start < 0 ? (-start + dilation - 1) / dilation : 0;
    int32_t k1 = end > start ? (end - start + dilation - 1) / dilation : 0;
    *first = start + k0 * dilation;
    if (k1 > taps) k1 = taps;
    return k1 > k0 ? k1 - k0 : 0;
}

/* Taps that an average counts, along a dim of n elements: those in the image, or also in the padding, as if it were image. */
static inline int32_t ig_pool_counted(const struct ig_pool *pool, int32_t start, int32_t taps, int32_t dilation, int32_t n, int32_t before,
                                      int32_t after)
{
    int32_t unused;
    if (!pool->count_include_pad) return ig_pool_taps(start, taps, dilation, n, &unused);
    return ig_pool_taps(start + before, taps, dilation, n + before + after, &unused);
}

/* Rows of output row y's window that an average counts, of all depths. */
static inline int32_t ig_pool_counted_rows(const struct ig_call *call, int32_t y)
{
    const struct ig_pool *pool = (const struct ig_pool *)call->attrs;
    const struct ig_window *w = &pool->w;
    int32_t out_h = call->out[0].h / w->out_d, y0 = y % out_h * w->sh - w->top, z0 = y / out_h * w->sd - w->front;
    return ig_pool_counted(pool, z0, w->kd, w->dd, w->in_d, w->front, w->back - pool->ceil_d) *
           ig_pool_counted(pool, y0, w->kh, w->dh, call->in[0].h / w->in_d, w->top, w->bottom - pool->ceil_h);
}

/* Columns of output column x's window that an average counts. */
static inline int32_t ig_pool_counted_columns(const struct ig_call *call, int32_t x)
{
    const struct ig_pool *pool = (const struct ig_pool *)call->attrs;
    const struct ig_window *w = &pool->w;
    return ig_pool_counted(pool, x * w->sw - w->left, w->kw, w->dw, call->in[0].w, w->left, w->right - pool->ceil_w);
}

/* The view of output row y, without columns; the call is of IG_POOL. */
static inline struct ig_pool_view ig_pool_row_of(const struct ig_call *call, int32_t y)
{
    const struct ig_window *w = &((const struct ig_pool *)call->attrs)->w;
    int32_t in_h = call->in[0].h / w->in_d, out_h = call->out[0].h / w->out_d, z;
    struct ig_pool_view v = {.in = &call->in[0], .dd = w->dd * in_h, .dh = w->dh, .dw = w->dw, .counted = ig_pool_counted_rows(call, y)};
    v.depths = ig_pool_taps(y / out_h * w->sd - w->front, w->kd, w->dd, w->in_d, &z);
    v.rows = ig_pool_taps(y % out_h * w->sh - w->top, w->kh, w->dh, in_h, &v.y);
    v.y += z * in_h;
    return v;
}

/* Makes it that of output (y, x). */
static inline void ig_pool_move(struct ig_pool_view *v, const struct ig_call *call, int32_t x)
{
    const struct ig_window *w = &((const struct ig_pool *)call->attrs)->w;
    int32_t counted = v->counted * ig_pool_counted_columns(call, x);
    v->columns = ig_pool_taps(x * w->sw - w->left, w->kw, w->dw, v->in->w, &v->x);
    v->divisor = counted > 1 ? (float)counted : 1;
}

static inline struct ig_pool_view ig_pool_view_of(const struct ig_call *call, int32_t y, int32_t x)
{
    struct ig_pool_view v = ig_pool_row_of(call, y);
    ig_pool_move(&v, call, x);
    return v;
}

#endif
