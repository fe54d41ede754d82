/* Regions of interest, common/roi_align.inc. */
#include "kernels_cpu/avx2/kernels.h"
#include "kernels_cpu/avx2/lanes.h"

#include "kernels_cpu/common/roi_align.inc"

void roi_align_f32_8__avx2(const struct ig_call *call, struct ig_range range, void *scratch)
{
    roi_align(call, range, scratch);
}
