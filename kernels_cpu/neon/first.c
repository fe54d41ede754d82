/*
 * First layer (at most 4 input channels): a kernel row is kw*ic contiguous floats of the image, so that a 7x7
 * window has 7 taps of 21 instead of 49 of 3.
 */
#include "kernels_cpu/neon/gemm.h"
#include "kernels_cpu/neon/kernels.h"

void conv_f32_first6x16__neon(const struct ig_call *call, struct ig_range range, void *scratch)
{
    ig_gemm_first(call, (const struct ig_conv *)call->attrs, range, scratch,
                  &ig_gemm_packed6x16_neon);
}
