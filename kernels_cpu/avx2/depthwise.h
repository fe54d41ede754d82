/* The sliding depthwise 3x3 of depthwise3x3.S. */
#ifndef KERNELS_CPU_AVX2_DEPTHWISE_H
#define KERNELS_CPU_AVX2_DEPTHWISE_H

#include <stdint.h>

enum ig_slide_flags {
    IG_SLIDE_LO = 1,    /* max with lo */
    IG_SLIDE_HI = 2,    /* then min with hi */
    IG_SLIDE_FIRST = 4, /* the first output's first column is outside the image: `in` is at the second */
    IG_SLIDE_LAST = 8   /* the last output's last column is */
};

/* Eight channels of n outputs of one row or two. The offsets of the members are known to assembly: do not reorder. */
struct ig_slide {
    const float *in[5];    /*   0: input rows from the top; 3 for one output row, 3 + stride for two */
    int64_t step[5];       /*  40: bytes to the next column, 0 for a row of zeros */
    float *out[2];         /*  80 */
    int64_t out_step;      /*  96: bytes to the next pixel */
    int64_t n;             /* 104: outputs, >= 1 */
    const float *w;        /* 112: w[9][8], taps row by row */
    int64_t unused;        /* 120 */
    int32_t flags, zero;   /* 128 */
    float bias[8];         /* 136 */
    float lo, hi;          /* 168, 172 */
};

typedef void ig_slide_fn(const struct ig_slide *slide);
ig_slide_fn ig_slide_1row_s1_avx2, ig_slide_2rows_s1_avx2, ig_slide_1row_s2_avx2, ig_slide_2rows_s2_avx2;

#endif
