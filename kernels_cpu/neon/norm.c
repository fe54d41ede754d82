/* Normalisations, common/norm.inc. */
#include "kernels_cpu/neon/kernels.h"
#include "kernels_cpu/neon/lanes.h"

#include "kernels_cpu/common/norm.inc"

void norm_f32_pixel4__neon(const struct ig_call *call, struct ig_range range, void *scratch)
{
    (void)scratch;
    norm_pixels(call, range);
}

void norm_f32_run4__neon(const struct ig_call *call, struct ig_range range, void *scratch)
{
    (void)scratch;
    norm_runs(call, range);
}

void norm_f32_rows4__neon(const struct ig_call *call, struct ig_range range, void *scratch)
{
    (void)scratch;
    norm_runs(call, range);
}

void norm_f32_instance4__neon(const struct ig_call *call, struct ig_range range, void *scratch)
{
    norm_images(call, range.c0, range.c1, 1, scratch);
}

void norm_f32_group4__neon(const struct ig_call *call, struct ig_range range, void *scratch)
{
    norm_groups(call, range, scratch);
}

void norm_f32_groups16__neon(const struct ig_call *call, struct ig_range range, void *scratch)
{
    norm_groups(call, range, scratch);
}

void norm_f32_groups64__neon(const struct ig_call *call, struct ig_range range, void *scratch)
{
    norm_groups(call, range, scratch);
}
