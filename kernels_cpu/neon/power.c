/* Powers, common/power.inc. */
#include "kernels_cpu/neon/act.h"
#include "kernels_cpu/neon/kernels.h"
#include "kernels_cpu/neon/lanes.h"

#include "kernels_cpu/common/power.inc"

void binary_f32_power4__neon(const struct ig_call *call, struct ig_range range, void *scratch)
{
    static const struct ig_binary_loops loops = {run, ig_act_row_neon, NULL};
    (void)scratch;
    ig_binary_rows(call, range, &loops);
}
