/* Data movement in runs, common/moves.h. */
#include "kernels_cpu/neon/kernels.h"
#include "kernels_cpu/common/moves.h"

void expand_any_runs__neon(const struct ig_call *call, struct ig_range range, void *scratch)
{
    (void)scratch;
    ig_expand_runs(call, range);
}

void tile_any_runs__neon(const struct ig_call *call, struct ig_range range, void *scratch)
{
    (void)scratch;
    ig_tile_runs(call, range);
}

void slice_any_runs__neon(const struct ig_call *call, struct ig_range range, void *scratch)
{
    (void)scratch;
    ig_slice_runs(call, range);
}

void transpose_any_runs__neon(const struct ig_call *call, struct ig_range range, void *scratch)
{
    (void)scratch;
    ig_permute_runs(call, range);
}
