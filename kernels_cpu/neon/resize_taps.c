/* Resize by taps, common/resize_taps.inc. */
#include "kernels_cpu/neon/kernels.h"
#include "kernels_cpu/neon/lanes.h"

#include "kernels_cpu/common/resize_taps.inc"

void resize_f32_taps__neon(const struct ig_call *call, struct ig_range range, void *scratch)
{
    resize_taps(call, range, (struct ig_resize_taps *)scratch);
}
