/* Fully connected: one row streams the weights, several rows are a pointwise convolution. */
#include "kernels_cpu/neon/gemm.h"
#include "kernels_cpu/neon/kernels.h"

void fc_f32_6x16__neon(const struct ig_call *call, struct ig_range range, void *scratch)
{
    ig_gemm_fc(call, range, scratch, &ig_gemm_6x16_neon);
}
