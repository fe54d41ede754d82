/* The straight-line first layer kernels of first_line.S. */
#ifndef KERNELS_CPU_AVX2_FIRST_LINE_H
#define KERNELS_CPU_AVX2_FIRST_LINE_H

#include "kernels_cpu/common/first_line.h"

ig_first_line_fn ig_first_3s1c3_16_avx2, ig_first_3s1c3_8_avx2, ig_first_3s2c3_16_avx2, ig_first_3s2c3_8_avx2,
    ig_first_5s1c3_16_avx2, ig_first_5s1c3_8_avx2, ig_first_5s2c3_16_avx2, ig_first_5s2c3_8_avx2,
    ig_first_7s2c3_16_avx2, ig_first_7s2c3_8_avx2, ig_first_3s1c1_16_avx2, ig_first_3s1c1_8_avx2,
    ig_first_5s1c1_16_avx2, ig_first_5s1c1_8_avx2;

#endif
