/* Transposed convolution of each channel by itself, common/deconv_depthwise.inc. */
#include "kernels_cpu/avx2/act.h"
#include "kernels_cpu/avx2/kernels.h"
#include "kernels_cpu/avx2/lanes.h"

#include "kernels_cpu/common/deconv_depthwise.inc"

void deconv_f32_depthwise8__avx2(const struct ig_call *call, struct ig_range range, void *scratch)
{
    (void)scratch;
    deconv_depthwise(call, range, ig_act_row_avx2);
}
