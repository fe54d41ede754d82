/* Powers, common/power.inc. */
#include "kernels_cpu/avx2/act.h"
#include "kernels_cpu/avx2/kernels.h"
#include "kernels_cpu/avx2/lanes.h"

#include "kernels_cpu/common/power.inc"

void binary_f32_power8__avx2(const struct ig_call *call, struct ig_range range, void *scratch)
{
    static const struct ig_binary_loops loops = {run, ig_act_row_avx2, NULL};
    (void)scratch;
    ig_binary_rows(call, range, &loops);
}
