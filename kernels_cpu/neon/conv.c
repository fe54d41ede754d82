/*
 * Convolution as GEMM by indirection (kernels_cpu/common/conv_gemm.h) on the micro-kernels of gemm.S. 6x16 is
 * what packing does not repay; 8x8 wastes nothing where the output channels are an odd multiple of 8. packed6x16,
 * on those of gemm_packed.S, executes the fewest instructions from 32 output channels on.
 */
#include "kernels_cpu/neon/gemm.h"
#include "kernels_cpu/neon/kernels.h"

void conv_f32_6x16__neon(const struct ig_call *call, struct ig_range range, void *scratch)
{
    ig_gemm_conv(call, (const struct ig_conv *)call->attrs, range, scratch, &ig_gemm_6x16_neon);
}

void conv_f32_packed6x16__neon(const struct ig_call *call, struct ig_range range, void *scratch)
{
    ig_gemm_conv(call, (const struct ig_conv *)call->attrs, range, scratch, &ig_gemm_packed6x16_neon);
}

void conv_f32_8x8__neon(const struct ig_call *call, struct ig_range range, void *scratch)
{
    ig_gemm_conv(call, (const struct ig_conv *)call->attrs, range, scratch, &ig_gemm_8x8_neon);
}
