/* Comparisons, common/compare.inc. */
#include "kernels_cpu/avx2/kernels.h"
#include "kernels_cpu/avx2/lanes.h"

#include "kernels_cpu/common/compare.inc"

void binary_any_compare8__avx2(const struct ig_call *call, struct ig_range range, void *scratch)
{
    (void)scratch;
    ig_nest_lines(call, range, 2, compare_line);
}
