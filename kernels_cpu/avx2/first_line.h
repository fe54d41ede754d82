/* The straight-line first layer kernels of first_line.S. */
#ifndef KERNELS_CPU_AVX2_FIRST_LINE_H
#define KERNELS_CPU_AVX2_FIRST_LINE_H

#include <stdint.h>

/* One output row by a panel of 16 channels, or its first 8. Assembly knows the offsets: do not reorder. */
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
ig_first_line_fn ig_first_3s1c3_16_avx2, ig_first_3s1c3_8_avx2, ig_first_3s2c3_16_avx2, ig_first_3s2c3_8_avx2,
    ig_first_5s1c3_16_avx2, ig_first_5s1c3_8_avx2, ig_first_5s2c3_16_avx2, ig_first_5s2c3_8_avx2,
    ig_first_7s2c3_16_avx2, ig_first_7s2c3_8_avx2, ig_first_3s1c1_16_avx2, ig_first_3s1c1_8_avx2,
    ig_first_5s1c1_16_avx2, ig_first_5s1c1_8_avx2;

#endif
