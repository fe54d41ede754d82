/* Recurrent layers, common/recurrent.inc. */
#include "kernels_cpu/neon/act.h"
#include "kernels_cpu/neon/kernels.h"
#include "kernels_cpu/neon/lanes.h"

enum { ROWS = 4 };

#include "kernels_cpu/common/recurrent.inc"

void recurrent_f32_4__neon(const struct ig_call *call, struct ig_range range, void *scratch)
{
    recurrent(call, range, (float *)scratch, ig_act_row_neon);
}
