/* First layer: input rows without gaps, between the zeros of the padding. */
#ifndef KERNELS_CPU_COMMON_FIRST_ROWS_H
#define KERNELS_CPU_COMMON_FIRST_ROWS_H

#include "kernels_cpu/kernel.h"

/* Floats of such a row: all that the columns of the output of a convolution touch. */
int64_t ig_first_row_width(const struct ig_call *call);
/* The same in whole cache lines. */
int64_t ig_first_pitch(const struct ig_call *call);
/* Row y of input 0, zeros if it is outside the image, to dst[ig_first_row_width()]. */
void ig_first_copy_row(const struct ig_call *call, int32_t y, float *dst);

#endif
