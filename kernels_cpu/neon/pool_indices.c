/* Maximum pooling with indices, common/pool_indices.inc, and its inverse. */
#include "kernels_cpu/neon/kernels.h"
#include "kernels_cpu/neon/lanes.h"
#include "kernels_cpu/common/unpool.h"

#include "kernels_cpu/common/pool_indices.inc"

void pool_f32_indices4__neon(const struct ig_call *call, struct ig_range range, void *scratch)
{
    pool_indices(call, range, (int64_t *)scratch);
}

void max_unpool_f32_places__neon(const struct ig_call *call, struct ig_range range, void *scratch)
{
    (void)range, (void)scratch;
    ig_unpool(call);
}
