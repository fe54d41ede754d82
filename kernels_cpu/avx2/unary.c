/* Element-wise functions of one operand that epilogues have, too: the formulas of act.c. */
#include "kernels_cpu/avx2/act.h"
#include "kernels_cpu/avx2/kernels.h"
#include "kernels_cpu/common/unary.h"

void unary_f32_8__avx2(const struct ig_call *call, struct ig_range range, void *scratch)
{
    (void)scratch;
    ig_unary_rows(call, range, ig_act_row_avx2);
}
