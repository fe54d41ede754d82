/* The depthwise kernels of depthwise3x3.S, depthwise_pass.S and depthwise_direct.S. */
#ifndef KERNELS_CPU_AVX2_DEPTHWISE_H
#define KERNELS_CPU_AVX2_DEPTHWISE_H

#include <stdint.h>

#include "kernels_cpu/common/depthwise7.h"

enum ig_slide_flags {
    IG_SLIDE_LO = 1,    /* max with lo */
    IG_SLIDE_HI = 2,    /* then min with hi; only together with IG_SLIDE_LO */
    IG_SLIDE_FIRST = 4, /* the first output's first column is outside the image: `in` is at the second */
    IG_SLIDE_LAST = 8,  /* the last output's last column is */
    IG_SLIDE_FETCH_ONE = 16, /* nothing is prefetched that lies ahead of input row 3 */
    IG_SLIDE_FETCH_OUT = 64, /* outputs are prefetched */
    IG_SLIDE_NO_ROW = 256 /* times 2^i: input row i is outside the image; with two output rows the first or last */
};

/* 3x3, blocks of eight channels of some outputs of one row or two. Assembly knows the offsets: do not reorder. */
struct ig_slide {
    const float *in[5];    /*   0: input rows from the top; 3 for one output row, 3 + stride for two */
    int64_t step;          /*  40: bytes to the next column */
    float *out[2];         /*  48 */
    int64_t out_step;      /*  64: bytes to the next pixel */
    int64_t last;          /*  72: bytes to the last output */
    const float *w;        /*  80: bias[8], then w[9][8], taps row by row */
    int64_t blocks;        /*  88: of 8 channels, >= 1: everything moves on by 8 channels, the weights by a block */
    int32_t flags;         /*  96: enum ig_slide_flags */
    float lo, hi;          /* 100, 104 */
    int64_t ahead[2];      /* 112: bytes from input rows 1, 3 to what is prefetched, in first and in second blocks */
    int64_t out_ahead[2];  /* 128: the same, from output row 0 */
};

/* 5 or 7 wide, one kernel row or two, eight channels of n outputs of a row. The same. */
struct ig_pass {
    const float *in[2];    /*  0: input rows, at column `first` */
    int64_t in_step;       /* 16: bytes to the next column */
    int64_t columns;       /* 24: of the image */
    int64_t first;         /* 32: column of the first output's first tap; may be negative */
    const float *from;     /* 40: the sums so far; read for 8 outputs past the last */
    int64_t from_step;     /* 48: bytes to the next output's; 0: `from` is the bias */
    float *to;             /* 56: may be the same memory */
    int64_t to_step;       /* 64: bytes */
    const float *w;        /* 72: w[rows][kw][8] */
    int64_t n;             /* 80: outputs, >= 1 */
    int32_t flags;         /* 88: IG_SLIDE_LO, IG_SLIDE_HI */
    float lo, hi;          /* 92, 96 */
};

ig_direct_fn ig_direct_3s1_16_avx2, ig_direct_3s1_8_avx2, ig_direct_3s2_16_avx2, ig_direct_3s2_8_avx2,
    ig_direct_5s1_16_avx2, ig_direct_5s1_8_avx2, ig_direct_5s2_16_avx2, ig_direct_5s2_8_avx2,
    ig_direct_7s1_16_avx2, ig_direct_7s1_8_avx2, ig_direct_7s2_16_avx2, ig_direct_7s2_8_avx2;

typedef void ig_slide_fn(const struct ig_slide *slide);
ig_slide_fn ig_slide_1row_s1_avx2, ig_slide_2rows_s1_avx2, ig_slide_1row_s2_avx2, ig_slide_2rows_s2_avx2;

typedef void ig_pass_fn(const struct ig_pass *pass);
ig_pass_fn ig_pass_5s1_1row_avx2, ig_pass_5s1_2rows_avx2, ig_pass_5s2_1row_avx2, ig_pass_5s2_2rows_avx2,
    ig_pass_7s1_1row_avx2, ig_pass_7s2_1row_avx2;

#endif
