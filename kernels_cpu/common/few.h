/*
 * Convolutions to few output channels, as the last layers of segmentation and super-resolution and attention over an image's places have,
 * where a panel of 16 would be padding. An output is a dot product along a kernel row, whose taps and input channels lie side by side:
 * vectors go along these, not along output channels. Pointwise ones read the image as it lies; for other windows the input's rows are
 * copied between the zeros of the padding (common/first_rows.h).
 *
 * Transposed ones whose windows lie side by side, as the last layers of text detectors are, too: an input pixel's outputs of a kernel row lie
 * side by side, so that an output row is what a pointwise convolution to kw oc channels makes of an input row.
 *
 * Packed weights, in vectors of N: bias[max(N, IG_FEW)], then [ky][ceil(kw ic / N)][oc][N], zero beyond the last tap; of transposed ones
 * [ky][ceil(ic / N)][kx][oc][N].
 */
#ifndef KERNELS_CPU_COMMON_FEW_H
#define KERNELS_CPU_COMMON_FEW_H

#include "kernels_cpu/kernel.h"

enum { IG_FEW = 4, IG_FEW_ROWS = 11 }; /* output channels, of transposed ones times kernel columns, and kernel rows: at most */

/* Floats of packed weights before those of the first kernel row. */
static inline int32_t ig_few_front(int32_t n)
{
    return n < IG_FEW ? IG_FEW : n;
}

/* Each output is of one pixel, which is inside the image. */
static inline int ig_few_is_pointwise(const struct ig_call *call)
{
    const struct ig_window *w = &((const struct ig_conv *)call->attrs)->w;
    const struct ig_operand *x = &call->in[0], *y = &call->out[0];
    return w->kh * w->kw == 1 && !w->top && !w->left && (y->h - 1) * w->sh < x->h && (y->w - 1) * w->sw < x->w;
}

#endif
