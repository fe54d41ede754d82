/* What runs on the micro-kernels of gemm.S: convolution, its first layer, fully connected, transposed convolution. */
#include "kernels_cpu/avx512/gemm.h"
#include "kernels_cpu/avx512/kernels.h"
#include "kernels_cpu/common/joined.h"

void conv_f32_12x32__avx512(const struct ig_call *call, struct ig_range range, void *scratch)
{
    ig_gemm_conv(call, (const struct ig_conv *)call->attrs, range, scratch, &ig_gemm_12x32_avx512);
}

void conv_f32_first12x32__avx512(const struct ig_call *call, struct ig_range range, void *scratch)
{
    ig_gemm_first(call, (const struct ig_conv *)call->attrs, range, scratch, &ig_gemm_12x32_avx512);
}

void fc_f32_12x32__avx512(const struct ig_call *call, struct ig_range range, void *scratch)
{
    ig_gemm_fc(call, range, scratch, &ig_gemm_12x32_avx512);
}

void deconv_f32_12x32__avx512(const struct ig_call *call, struct ig_range range, void *scratch)
{
    ig_gemm_deconv(call, (const struct ig_conv *)call->attrs, range, scratch, &ig_gemm_12x32_avx512);
}

void deconv_f32_joined12x32__avx512(const struct ig_call *call, struct ig_range range, void *scratch)
{
    ig_gemm_joined(call, range, scratch, &ig_gemm_12x32_avx512);
}
