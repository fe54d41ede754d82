/* Pooling: which taps of an output's window are inside the image, and what an average is divided by. */
#ifndef KERNELS_CPU_COMMON_POOL_H
#define KERNELS_CPU_COMMON_POOL_H

#include "kernels_cpu/kernel.h"

struct ig_pool_view {        /* the part of one output's window that is inside the image */
    const struct ig_operand *in;
    int32_t y, x;            /* the first tap in it, input coordinates */
    int32_t rows, columns;   /* taps */
    int32_t dh, dw;          /* rows, columns from a tap to the next */
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

/* Rows of output row y's window that an average counts. */
static inline int32_t ig_pool_counted_rows(const struct ig_call *call, int32_t y)
{
    const struct ig_pool *pool = (const struct ig_pool *)call->attrs;
    const struct ig_window *w = &pool->w;
    int32_t y0 = y * w->sh - w->top, h = call->in[0].h, unused;
    if (!pool->count_include_pad) return ig_pool_taps(y0, w->kh, w->dh, h, &unused);
    return ig_pool_taps(y0 + w->top, w->kh, w->dh, h + w->top + w->bottom - pool->ceil_h, &unused); /* as if image */
}

/* Columns of output column x's window that an average counts. */
static inline int32_t ig_pool_counted_columns(const struct ig_call *call, int32_t x)
{
    const struct ig_pool *pool = (const struct ig_pool *)call->attrs;
    const struct ig_window *w = &pool->w;
    int32_t x0 = x * w->sw - w->left, width = call->in[0].w, unused;
    if (!pool->count_include_pad) return ig_pool_taps(x0, w->kw, w->dw, width, &unused);
    return ig_pool_taps(x0 + w->left, w->kw, w->dw, width + w->left + w->right - pool->ceil_w, &unused);
}

/* The view of output (y, x); the call is of IG_POOL with a flat window. */
static inline struct ig_pool_view ig_pool_view_of(const struct ig_call *call, int32_t y, int32_t x)
{
    const struct ig_window *w = &((const struct ig_pool *)call->attrs)->w;
    struct ig_pool_view v = {&call->in[0], 0, 0, 0, 0, w->dh, w->dw, 1};
    int32_t counted = ig_pool_counted_rows(call, y) * ig_pool_counted_columns(call, x);
    v.rows = ig_pool_taps(y * w->sh - w->top, w->kh, w->dh, v.in->h, &v.y);
    v.columns = ig_pool_taps(x * w->sw - w->left, w->kw, w->dw, v.in->w, &v.x);
    if (counted > 1) v.divisor = (float)counted;
    return v;
}

#endif
