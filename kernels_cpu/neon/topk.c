/* The largest or smallest floats of lines, common/topk.h. */
#include "kernels_cpu/neon/kernels.h"
#include "kernels_cpu/common/topk.h"

void topk_f32_heap__neon(const struct ig_call *call, struct ig_range range, void *scratch)
{
    ig_topk_rows(call, range, (struct ig_topk_item *)scratch);
}

void topk_f32_across__neon(const struct ig_call *call, struct ig_range range, void *scratch)
{
    ig_topk_across(call, range, (struct ig_topk_item *)scratch);
}
