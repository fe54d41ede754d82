/* Samples at the points of a grid, common/grid_sample.inc. */
#include "kernels_cpu/neon/kernels.h"

#include "kernels_cpu/common/grid_sample.inc"

void grid_sample_f32_taps__neon(const struct ig_call *call, struct ig_range range, void *scratch)
{
    grid_sample(call, range, scratch);
}
