/* Places of extremes, common/arg.inc. */
#include "kernels_cpu/neon/kernels.h"
#include "kernels_cpu/neon/lanes.h"

#include "kernels_cpu/common/arg.inc"

void arg_f32_4__neon(const struct ig_call *call, struct ig_range range, void *scratch)
{
    (void)scratch;
    arg_rows(call, range);
}
