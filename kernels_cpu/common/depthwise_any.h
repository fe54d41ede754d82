/*
 * Depthwise convolution of any window, fourteen outputs of a row at a time, and the copy of input rows where large windows read over and over what
 * finds no room in a cache.
 *
 *   ring[input row mod rows][column of the stretch][16]
 */
#ifndef KERNELS_CPU_COMMON_DEPTHWISE_ANY_H
#define KERNELS_CPU_COMMON_DEPTHWISE_ANY_H

#include "kernels_cpu/kernel.h"

enum {
    IG_DEPTHWISE_ANY_LANES = 16,   /* channels at a time */
    IG_DEPTHWISE_ANY_FEW = 7,      /* the fewest outputs of a row */
    IG_DEPTHWISE_ANY_STRETCH = 28, /* the most outputs of a row that go down all rows together */
    IG_DEPTHWISE_ANY_TAPS = 64,    /* the most taps of a kernel row, and the most kernel rows */
    IG_DEPTHWISE_ANY_LARGE = 49,   /* the fewest taps for which rows are copied */
    IG_DEPTHWISE_ANY_ALIKE = 1024  /* floats: pixels a multiple of so many apart are all in one set of a cache */
};

/* Do two rows of outputs share all rows of the input but the first and the last? */
static inline int ig_depthwise_any_pairs(const struct ig_window *w)
{
    return w->kd == 1 && w->in_d == 1 && w->sh == 1 && w->dh == 1 && w->kh > 1;
}

/* Rows of the ring: from the first of a window to its last, or to that of the window below it. */
static inline int32_t ig_depthwise_any_rows(const struct ig_window *w)
{
    return w->kh + ig_depthwise_any_pairs(w);
}

/* Columns of the input that n outputs touch. */
static inline int32_t ig_depthwise_any_columns(const struct ig_window *w, int32_t n)
{
    return (n - 1) * w->sw + (w->kw - 1) * w->dw + 1;
}

/* Are the input's rows copied? Not those of dilated windows, whose rows come in another order. */
static inline int ig_depthwise_any_copies(const struct ig_call *call)
{
    const struct ig_window *w = &((const struct ig_conv *)call->attrs)->w;
    const int large = w->kd == 1 && w->in_d == 1 && w->dh == 1 && w->kh * w->kw >= IG_DEPTHWISE_ANY_LARGE;
    return large && call->in[0].pixel_stride % IG_DEPTHWISE_ANY_ALIKE == 0;
}

#endif
