/* Local response normalisation, common/lrn.inc. */
#include "kernels_cpu/neon/kernels.h"
#include "kernels_cpu/neon/lanes.h"

#include "kernels_cpu/common/lrn.inc"

void lrn_f32_4__neon(const struct ig_call *call, struct ig_range range, void *scratch)
{
    lrn_pixels(call, range, scratch);
}
