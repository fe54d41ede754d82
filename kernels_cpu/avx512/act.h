/* Activations over runs of floats: as avx2/act.h, sixteen at a time where that is faster. */
#ifndef KERNELS_CPU_AVX512_ACT_H
#define KERNELS_CPU_AVX512_ACT_H

#include "kernels_cpu/avx2/act.h"

void ig_act_row_avx512(float *y, const float *x, int64_t n, const struct ig_act *act);
void ig_act_pixels_avx512(float *y, int64_t y_step, const float *x, int64_t x_step, int32_t pixels, int64_t n, const struct ig_act *act);

#endif
