/* Deformable convolution, common/deform_conv.inc. */
#include "kernels_cpu/avx2/kernels.h"
#include "kernels_cpu/avx2/lanes.h"

#include "kernels_cpu/common/deform_conv.inc"

void deform_conv_f32_8__avx2(const struct ig_call *call, struct ig_range range, void *scratch)
{
    deform_conv(call, range, scratch);
}
