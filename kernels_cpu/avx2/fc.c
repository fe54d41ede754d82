/* Fully connected: one row streams the weights (64 channels at a time), several rows are a pointwise convolution. */
#include "kernels_cpu/avx2/gemm.h"
#include "kernels_cpu/avx2/kernels.h"

void fc_f32_6x16__avx2(const struct ig_call *call, struct ig_range range, void *scratch)
{
    ig_gemm_fc(call, range, scratch, &ig_gemm_6x16_avx2);
}
