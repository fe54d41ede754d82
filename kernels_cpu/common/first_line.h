/* The first layer in straight lines: what its driver and an ISA's kernels have in common. */
#ifndef KERNELS_CPU_COMMON_FIRST_LINE_H
#define KERNELS_CPU_COMMON_FIRST_LINE_H

#include <stdint.h>

#include "kernels_cpu/common/conv_gemm.h"

/* One output row by a panel of 16 channels, or its first 8, or two panels. Assembly knows the offsets: do not reorder. */
struct ig_first_line {
    const float *const *rows; /*  0: [kh] input rows, at the first output's first column; without gaps */
    const float *w;           /*  8: packed panel of 16: bias[16], then w[ky][kx*ic][16] */
    float *out;               /* 16 */
    int64_t out_step;         /* 24: bytes to the next pixel */
    int64_t n;                /* 32: outputs, at least 6 (of 8 channels: 12) */
    int32_t flags;            /* 40: enum ig_gemm_flags; HI only together with LO */
    float lo, hi;             /* 44, 48 */
};

typedef void ig_first_line_fn(const struct ig_first_line *line);

struct ig_first_line_set {           /* one kernel size of one ISA; static const data */
    ig_first_line_fn *wide, *narrow; /* 16 channels, 8 */
    ig_first_line_fn *twice;         /* two panels of 16; NULL: one after the other */
    ig_act_fn *act;                  /* for the kinds that lo and hi cannot express */
    int in_place;                    /* 1: they read no float in vain, and copies of rows would cost a good part */
};

/* The convolution, of the set's kernel size, stride and input channels; packed as for ig_gemm_first. */
void ig_first_line(const struct ig_call *call, struct ig_range range, void *scratch,
                   const struct ig_first_line_set *set);

#endif
