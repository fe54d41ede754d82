/* Recurrent layers, common/recurrent.inc. */
#include "kernels_cpu/avx2/act.h"
#include "kernels_cpu/avx2/kernels.h"
#include "kernels_cpu/avx2/lanes.h"

enum { ROWS = 2 };

#include "kernels_cpu/common/recurrent.inc"

void recurrent_f32_8__avx2(const struct ig_call *call, struct ig_range range, void *scratch)
{
    recurrent(call, range, (float *)scratch, ig_act_row_avx2);
}
