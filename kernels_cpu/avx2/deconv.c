/* Transposed convolution: each phase of the output is a convolution with some of the taps (common/deconv_gemm.c). */
#include "kernels_cpu/avx2/gemm.h"
#include "kernels_cpu/avx2/kernels.h"
#include "kernels_cpu/common/joined.h"

void deconv_f32_6x16__avx2(const struct ig_call *call, struct ig_range range, void *scratch)
{
    ig_gemm_deconv(call, (const struct ig_conv *)call->attrs, range, scratch, &ig_gemm_6x16_avx2);
}

void deconv_f32_joined6x16__avx2(const struct ig_call *call, struct ig_range range, void *scratch)
{
    ig_gemm_joined(call, range, scratch, &ig_gemm_6x16_avx2);
}
