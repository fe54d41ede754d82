/* Softmax along other axes than the last, common/softmax_across.inc. */
#include "kernels_cpu/avx2/kernels.h"
#include "kernels_cpu/avx2/lanes.h"

#include "kernels_cpu/common/softmax_across.inc"

void softmax_f32_across8__avx2(const struct ig_call *call, struct ig_range range, void *scratch)
{
    (void)scratch;
    softmax_across(call, range);
}
