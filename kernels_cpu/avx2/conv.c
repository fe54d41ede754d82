/*
 * Convolution as GEMM by indirection (kernels_cpu/common/conv_gemm.h) on the micro-kernels of gemm.S. 6x16 is the
 * default; 4x24 wins where the output channels are a multiple of 24 but not of 16 (24, 72). The small ones are for
 * plans of least memory: a quarter of the scratch, for a few per cent of the time.
 */
#include "kernels_cpu/avx2/gemm.h"
#include "kernels_cpu/avx2/kernels.h"

void conv_f32_6x16__avx2(const struct ig_call *call, struct ig_range range, void *scratch)
{
    ig_gemm_conv(call, (const struct ig_conv *)call->attrs, range, scratch, &ig_gemm_6x16_avx2);
}

void conv_f32_4x24__avx2(const struct ig_call *call, struct ig_range range, void *scratch)
{
    ig_gemm_conv(call, (const struct ig_conv *)call->attrs, range, scratch, &ig_gemm_4x24_avx2);
}

void conv_f32_small6x16__avx2(const struct ig_call *call, struct ig_range range, void *scratch)
{
    ig_gemm_conv(call, (const struct ig_conv *)call->attrs, range, scratch, &ig_gemm_small6x16_avx2);
}

void conv_f32_small4x24__avx2(const struct ig_call *call, struct ig_range range, void *scratch)
{
    ig_gemm_conv(call, (const struct ig_conv *)call->attrs, range, scratch, &ig_gemm_small4x24_avx2);
}
