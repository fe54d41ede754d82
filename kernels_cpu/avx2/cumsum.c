/* Running sums, common/cumsum.h. */
#include "kernels_cpu/avx2/kernels.h"
#include "kernels_cpu/common/cumsum.h"

void cumsum_f32_rows__avx2(const struct ig_call *call, struct ig_range range, void *scratch)
{
    (void)scratch;
    ig_cumsum_rows(call, range);
}

void cumsum_f32_across__avx2(const struct ig_call *call, struct ig_range range, void *scratch)
{
    (void)scratch;
    ig_cumsum_across(call, range);
}
