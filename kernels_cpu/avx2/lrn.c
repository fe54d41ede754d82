/* Local response normalisation, common/lrn.inc. */
#include "kernels_cpu/avx2/kernels.h"
#include "kernels_cpu/avx2/lanes.h"

#include "kernels_cpu/common/lrn.inc"

void lrn_f32_8__avx2(const struct ig_call *call, struct ig_range range, void *scratch)
{
    lrn_pixels(call, range, scratch);
}
