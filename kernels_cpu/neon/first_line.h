/* The straight-line first layer kernels of first_line.S. */
#ifndef KERNELS_CPU_NEON_FIRST_LINE_H
#define KERNELS_CPU_NEON_FIRST_LINE_H

#include "kernels_cpu/common/first_line.h"

ig_first_line_fn ig_first_3s1c3_16_neon, ig_first_3s1c3_8_neon, ig_first_3s2c3_16_neon, ig_first_3s2c3_8_neon;

#endif
