/* Reductions of floats, common/reduce.inc. */
#include "kernels_cpu/neon/kernels.h"
#include "kernels_cpu/neon/lanes.h"

#include "kernels_cpu/common/reduce.inc"

void reduce_f32_4__neon(const struct ig_call *call, struct ig_range range, void *scratch)
{
    (void)scratch;
    reduce_any(call, range);
}
