/*
 * Convolutions to few output channels, as the last layers of segmentation and super-resolution and attention over an image's places have,
 * where a panel of 16 would be padding. An output is a dot product along a kernel row, whose taps and input channels lie side by side:
 * vectors go along these, not along output channels. Pointwise ones read the image as it lies; for other windows the input's rows are
 * copied between the zeros of the padding (common/first_rows.h).
 *
 * Transposed ones, as the last layers of text detectors and segmentation are, too: the outputs of a row whose columns leave the same remainder
 * modulo sw are a convolution of stride 1 of their own (common/joined.h), and those of all remainders px one to sw oc channels where these are
 * few. Windows side by side make pointwise ones. A row's outputs are in scratch until those of all px are there.
 *
 * Packed weights, in vectors of N: bias[max(N, IG_FEW)], then [ky][ceil(kw ic / N)][oc][N], zero beyond the last tap; of transposed ones, kh and
 * kw being those of a part, [py][px][ky][ceil(kw ic / N)][oc][N], or [py][ky][ceil(kw ic / N)][px][oc][N].
 */
#ifndef KERNELS_CPU_COMMON_FEW_H
#define KERNELS_CPU_COMMON_FEW_H

#include "kernels_cpu/common/joined.h"

enum { IG_FEW = 4, IG_FEW_ROWS = 11 }; /* output channels and kernel rows, of transposed ones those of a part: at most */

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

/* Of a transposed convolution: how many px are computed at once. */
static inline int32_t ig_few_columns(const struct ig_call *call)
{
    const int32_t sw = ((const struct ig_conv *)call->attrs)->w.sw;
    return sw * call->out[0].c <= IG_FEW ? sw : 1;
}

/* Columns of taps that outputs of px see, or those of all. */
static inline int32_t ig_few_taps(const struct ig_call *call, int32_t px)
{
    const struct ig_window *w = &((const struct ig_conv *)call->attrs)->w;
    return (w->kw - px + w->sw - 1) / w->sw;
}

/* Floats of a kernel row's weights for outputs of px, of vectors of n; for those of all px. */
static inline int64_t ig_few_row_floats(const struct ig_call *call, int32_t px, int32_t n)
{
    return ((int64_t)ig_few_taps(call, px) * call->in[0].c + n - 1) / n * n * ig_few_columns(call) * call->out[0].c;
}

static inline int64_t ig_few_rows_floats(const struct ig_call *call, int32_t n)
{
    int64_t floats = 0;
    for (int32_t px = 0; px < ((const struct ig_conv *)call->attrs)->w.sw; px += ig_few_columns(call)) floats += ig_few_row_floats(call, px, n);
    return floats;
}

/* Each output of a transposed convolution is of one pixel, which is inside the image. */
static inline int ig_few_is_beside(const struct ig_call *call, const struct ig_joined *part)
{
    const struct ig_window *w = &((const struct ig_conv *)call->attrs)->w;
    return w->kh == w->sh && w->kw == w->sw && part->first_x + part->width <= call->in[0].w &&
           (call->out[0].h - 1 + w->top) / w->sh < call->in[0].h;
}

/* Floats of scratch for a row of outputs. */
static inline int64_t ig_few_line(const struct ig_joined *part)
{
    enum { LINE = 16, READ_BEHIND = 3 };
    return ((int64_t)part->width * part->run + READ_BEHIND + LINE - 1) / LINE * LINE;
}

/* What copies the input's rows for the part that has most kernel rows, as for a convolution. */
static inline struct ig_call ig_few_as_conv(const struct ig_call *call, const struct ig_joined *part, const struct ig_conv *conv)
{
    return (struct ig_call){.attrs = conv, .n_in = 1, .n_out = 1, .in = {call->in[0]}, .out = {{.w = part->width, .c = part->run}}};
}

#endif
