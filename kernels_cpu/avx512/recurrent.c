/* Recurrent layers, common/recurrent.inc. */
#include "kernels_cpu/avx512/act.h"
#include "kernels_cpu/avx512/kernels.h"
#include "kernels_cpu/avx512/lanes.h"

enum { ROWS = 4 };

#include "kernels_cpu/common/recurrent.inc"

void recurrent_f32_16__avx512(const struct ig_call *call, struct ig_range range, void *scratch)
{
    recurrent(call, range, (float *)scratch, ig_act_row_avx512);
}
