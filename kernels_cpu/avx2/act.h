/* Activations over a run of floats. */
#ifndef KERNELS_CPU_AVX2_ACT_H
#define KERNELS_CPU_AVX2_ACT_H

#include <stdint.h>

#include "graph/op.h"

/*
 * y[i] = act(x[i]), i in [0, n); y may be x. Each result depends on its own element only. Kinds from
 * IG_FUSABLE on leave y as it is.
 */
void ig_act_row_avx2(float *y, const float *x, int64_t n, const struct ig_act *act);
/* The same for each of `pixels` runs of n floats that lie y_step and x_step floats apart. */
void ig_act_pixels_avx2(float *y, int64_t y_step, const float *x, int64_t x_step, int32_t pixels, int64_t n,
                        const struct ig_act *act);

#endif
