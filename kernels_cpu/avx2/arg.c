/* Places of extremes, common/arg.inc. */
#include "kernels_cpu/avx2/kernels.h"
#include "kernels_cpu/avx2/lanes.h"

#include "kernels_cpu/common/arg.inc"

void arg_f32_8__avx2(const struct ig_call *call, struct ig_range range, void *scratch)
{
    (void)scratch;
    arg_rows(call, range);
}
