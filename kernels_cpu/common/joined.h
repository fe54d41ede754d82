/*
 * Transposed convolution to few channels, whose windows may overlap, by convolutions of stride 1. With y + top = sh Y + py and
 * x + left = sw X + px, output (y, x) is made of input rows Y - i by kernel rows py + sh i, and of columns X - j by px + sw j: the outputs of a
 * (Y, X) are of the same ceil(kh / sh) x ceil(kw / sw) pixels, as channels of one convolution are. A part is such a convolution, to channels
 * (py, px, oc) of some py and all px; where sw does not divide kw, columns of taps are zeros. A part's py have equally many kernel rows, the
 * first kh mod sh of them one more than the others, so that no row is read which the output's rows have no tap on.
 *
 * Outputs of a part are in scratch until they are complete, and are then put in order:
 *
 *   part:     (Y, X): py 0: px 0: oc 0 ..| px 1: oc 0 .. | py 1: px 0: ...      (Y, X + 1): ...
 *   output:   row of py 0: (Y, X): px 0: oc 0 .. | px 1: oc 0 .. | (Y, X + 1): px 0: ...
 */
#ifndef KERNELS_CPU_COMMON_JOINED_H
#define KERNELS_CPU_COMMON_JOINED_H

#include "kernels_cpu/common/conv_gemm.h"

struct ig_joined {           /* a part */
    int32_t py, rows;        /* the first py; how many */
    int32_t kh, kw;          /* its window */
    int32_t first_x, width;  /* X of the output's first column; how many X there are */
    int32_t run, channels;   /* sw oc; of all its rows */
};

/* How many py the matrix kernels' part from py on has; other kernels' have one. */
int32_t ig_joined_rows(const struct ig_call *call, int32_t py);
/* The part of `rows` py from py on. */
struct ig_joined ig_joined_part(const struct ig_call *call, int32_t py, int32_t rows);
/* The same convolution's attributes for outputs Y, Y + 1, ...; no activation. */
struct ig_conv ig_joined_conv(const struct ig_joined *part, int32_t y);
/* Kernel row or column of phase `phase` that meets row or column `tap` of a window of `taps`; may be beyond the kernel. */
static inline int32_t ig_joined_tap(int32_t phase, int32_t stride, int32_t taps, int32_t tap)
{
    return phase + stride * (taps - 1 - tap);
}
/* An output row from its runs, which are `step` floats apart; three floats behind the last one are read. */
void ig_joined_row(const struct ig_call *call, const struct ig_joined *part, const float *runs, int64_t step, float *to);

/* By a set's micro-kernels; packed by kernels_cpu/pack/joined.c. */
void ig_gemm_joined(const struct ig_call *call, struct ig_range range, void *scratch, const struct ig_gemm_set *set);
size_t ig_gemm_joined_scratch(const struct ig_call *call, int32_t mr);

#endif
