/*
 * Convolutions to few output channels, as the last layers of segmentation and super-resolution and attention over an image's places have,
 * where a panel of 16 would be padding. An output is a dot product along a kernel row, whose taps and input channels lie side by side:
 * vectors go along these, not along output channels. Pointwise ones read the image as it lies; for other windows the input's rows are
 * copied between the zeros of the padding (common/first_rows.h).
 *
 * Packed weights, in vectors of N: bias[IG_FEW], then [ky][ceil(kw ic / N)][oc][N], zero beyond the last tap.
 */
#ifndef KERNELS_CPU_COMMON_FEW_H
#define KERNELS_CPU_COMMON_FEW_H

#include "kernels_cpu/kernel.h"

enum { IG_FEW = 4, IG_FEW_ROWS = 11 }; /* output channels, kernel rows: at most */

/* Each output is of one pixel, which is inside the image. */
static inline int ig_few_is_pointwise(const struct ig_call *call)
{
    const struct ig_window *w = &((const struct ig_conv *)call->attrs)->w;
    const struct ig_operand *x = &call->in[0], *y = &call->out[0];
    return w->kh * w->kw == 1 && !w->top && !w->left && (y->h - 1) * w->sh < x->h && (y->w - 1) * w->sw < x->w;
}

#endif
