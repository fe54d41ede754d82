/* Transposed convolution of each channel by itself, common/deconv_depthwise.inc. */
#include "kernels_cpu/avx512/act.h"
#include "kernels_cpu/avx512/kernels.h"
#include "kernels_cpu/avx512/lanes.h"

#include "kernels_cpu/common/deconv_depthwise.inc"

void deconv_f32_depthwise16__avx512(const struct ig_call *call, struct ig_range range, void *scratch)
{
    (void)scratch;
    deconv_depthwise(call, range, ig_act_row_avx512);
}
