/* Convolution to few output channels, also transposed, common/few.inc. */
#include "kernels_cpu/avx2/act.h"
#include "kernels_cpu/avx2/kernels.h"
#include "kernels_cpu/avx2/lanes.h"

enum { REGISTERS = 16 };

#include "kernels_cpu/common/few.inc"

void conv_f32_few8__avx2(const struct ig_call *call, struct ig_range range, void *scratch)
{
    few_rows(call, range, (float *)scratch, ig_act_row_avx2);
}

void deconv_f32_few8__avx2(const struct ig_call *call, struct ig_range range, void *scratch)
{
    few_deconv_rows(call, range, (float *)scratch, ig_act_row_avx2);
}
