/* Padding, common/pad.h. */
#include "kernels_cpu/avx2/kernels.h"
#include "kernels_cpu/common/pad.h"

void pad_any_runs__avx2(const struct ig_call *call, struct ig_range range, void *scratch)
{
    (void)scratch;
    ig_pad_runs(call, range);
}
