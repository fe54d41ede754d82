/* Normalisations, common/norm.inc. */
#include "kernels_cpu/avx2/kernels.h"
#include "kernels_cpu/avx2/lanes.h"

#include "kernels_cpu/common/norm.inc"

void norm_f32_pixel8__avx2(const struct ig_call *call, struct ig_range range, void *scratch)
{
    (void)scratch;
    norm_pixels(call, range);
}

void norm_f32_run8__avx2(const struct ig_call *call, struct ig_range range, void *scratch)
{
    (void)scratch;
    norm_runs(call, range);
}

void norm_f32_rows8__avx2(const struct ig_call *call, struct ig_range range, void *scratch)
{
    (void)scratch;
    norm_runs(call, range);
}

void norm_f32_instance8__avx2(const struct ig_call *call, struct ig_range range, void *scratch)
{
    norm_images(call, range.c0, range.c1, 1, scratch);
}

void norm_f32_group8__avx2(const struct ig_call *call, struct ig_range range, void *scratch)
{
    norm_groups(call, range, scratch);
}

void norm_f32_groups16__avx2(const struct ig_call *call, struct ig_range range, void *scratch)
{
    norm_groups(call, range, scratch);
}

void norm_f32_groups64__avx2(const struct ig_call *call, struct ig_range range, void *scratch)
{
    norm_groups(call, range, scratch);
}
