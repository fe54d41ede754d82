/* Comparisons, common/compare.inc. */
#include "kernels_cpu/neon/kernels.h"
#include "kernels_cpu/neon/lanes.h"

#include "kernels_cpu/common/compare.inc"

void binary_any_compare4__neon(const struct ig_call *call, struct ig_range range, void *scratch)
{
    (void)scratch;
    ig_nest_lines(call, range, 2, compare_line);
}
