/* Data movement, common/moves.h, gather.h, one_hot.h, scatter.h, triu.h. */
#include "kernels_cpu/avx2/kernels.h"
#include "kernels_cpu/common/gather.h"
#include "kernels_cpu/common/moves.h"
#include "kernels_cpu/common/one_hot.h"
#include "kernels_cpu/common/scatter.h"
#include "kernels_cpu/common/triu.h"

void expand_any_runs__avx2(const struct ig_call *call, struct ig_range range, void *scratch)
{
    (void)scratch;
    ig_expand_runs(call, range);
}

void tile_any_runs__avx2(const struct ig_call *call, struct ig_range range, void *scratch)
{
    (void)scratch;
    ig_tile_runs(call, range);
}

void slice_any_runs__avx2(const struct ig_call *call, struct ig_range range, void *scratch)
{
    (void)scratch;
    ig_slice_runs(call, range);
}

void transpose_any_runs__avx2(const struct ig_call *call, struct ig_range range, void *scratch)
{
    (void)scratch;
    ig_permute_runs(call, range);
}

void gather_any_runs__avx2(const struct ig_call *call, struct ig_range range, void *scratch)
{
    (void)scratch;
    ig_gather_runs(call, range);
}

void gather_elements_any_rows__avx2(const struct ig_call *call, struct ig_range range, void *scratch)
{
    (void)scratch;
    ig_gather_elements_rows(call, range);
}

void gather_nd_any_runs__avx2(const struct ig_call *call, struct ig_range range, void *scratch)
{
    (void)range, (void)scratch;
    ig_gather_tuples(call);
}

void scatter_elements_any_1__avx2(const struct ig_call *call, struct ig_range range, void *scratch)
{
    (void)range, (void)scratch;
    ig_scatter_elements(call);
}

void scatter_nd_any_runs__avx2(const struct ig_call *call, struct ig_range range, void *scratch)
{
    (void)range, (void)scratch;
    ig_scatter_tuples(call);
}

void one_hot_any_runs__avx2(const struct ig_call *call, struct ig_range range, void *scratch)
{
    (void)range, (void)scratch;
    ig_one_hot(call);
}

void triu_any_rows__avx2(const struct ig_call *call, struct ig_range range, void *scratch)
{
    (void)scratch;
    ig_triu_rows(call, range);
}
