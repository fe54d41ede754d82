/* Deformable convolution, common/deform_conv.inc. */
#include "kernels_cpu/neon/kernels.h"
#include "kernels_cpu/neon/lanes.h"

#include "kernels_cpu/common/deform_conv.inc"

void deform_conv_f32_4__neon(const struct ig_call *call, struct ig_range range, void *scratch)
{
    deform_conv(call, range, scratch);
}
