/* Sine and cosine, common/waves.inc. */
#include "kernels_cpu/avx2/kernels.h"
#include "kernels_cpu/avx2/lanes.h"
#include "kernels_cpu/common/unary.h"

#include "kernels_cpu/common/waves.inc"

void unary_f32_waves8__avx2(const struct ig_call *call, struct ig_range range, void *scratch)
{
    (void)scratch;
    ig_unary_rows(call, range, waves);
}
