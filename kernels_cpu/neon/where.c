/* Choices, common/where.inc. */
#include "kernels_cpu/neon/kernels.h"
#include "kernels_cpu/neon/lanes.h"

#include "kernels_cpu/common/where.inc"

void where_any_4__neon(const struct ig_call *call, struct ig_range range, void *scratch)
{
    (void)scratch;
    ig_nest_lines(call, range, 3, choose_line);
}
