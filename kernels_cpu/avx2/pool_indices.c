/* Maximum pooling with indices, common/pool_indices.inc, and its inverse. */
#include "kernels_cpu/avx2/kernels.h"
#include "kernels_cpu/avx2/lanes.h"
#include "kernels_cpu/common/unpool.h"

#include "kernels_cpu/common/pool_indices.inc"

void pool_f32_indices8__avx2(const struct ig_call *call, struct ig_range range, void *scratch)
{
    pool_indices(call, range, (int64_t *)scratch);
}

void max_unpool_f32_places__avx2(const struct ig_call *call, struct ig_range range, void *scratch)
{
    (void)range, (void)scratch;
    ig_unpool(call);
}
