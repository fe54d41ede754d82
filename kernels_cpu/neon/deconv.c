/* Transposed convolution: each phase of the output is a convolution with some of the taps
 * (common/deconv_gemm.c). */
#include "kernels_cpu/neon/gemm.h"
#include "kernels_cpu/neon/kernels.h"
#include "kernels_cpu/common/joined.h"

void deconv_f32_6x16__neon(const struct ig_call *call, struct ig_range range, void *scratch)
{
    ig_gemm_deconv(call, (const struct ig_conv *)call->attrs, range, scratch, &ig_gemm_6x16_neon);
}

void deconv_f32_joined6x16__neon(const struct ig_call *call, struct ig_range range, void *scratch)
{
    ig_gemm_joined(call, range, scratch, &ig_gemm_6x16_neon);
}
