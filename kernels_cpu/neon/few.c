/* Convolution to few output channels, also transposed, common/few.inc. */
#include "kernels_cpu/neon/act.h"
#include "kernels_cpu/neon/kernels.h"
#include "kernels_cpu/neon/lanes.h"

enum { REGISTERS = 32 };

#include "kernels_cpu/common/few.inc"

void conv_f32_few4__neon(const struct ig_call *call, struct ig_range range, void *scratch)
{
    few_rows(call, range, (float *)scratch, ig_act_row_neon);
}

void deconv_f32_few4__neon(const struct ig_call *call, struct ig_range range, void *scratch)
{
    few_deconv_rows(call, range, (float *)scratch, ig_act_row_neon);
}
