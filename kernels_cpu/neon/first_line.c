/*
 * First layer, the common kernel sizes (kernels_cpu/common/first_line.h). No pixel is packed and no address looked up:
 * 3x3 to 32 channels executes 1.4 instructions an FMLA where first6x16 takes 1.8; at 7x7, packing is repaid.
 */
#include "kernels_cpu/neon/first_line.h"

#include "kernels_cpu/neon/act.h"
#include "kernels_cpu/neon/kernels.h"

void conv_f32_first3s1c3__neon(const struct ig_call *call, struct ig_range range, void *scratch)
{
    static const struct ig_first_line_set set = {ig_first_3s1c3_16_neon, ig_first_3s1c3_8_neon, NULL, ig_act_row_neon, 0};
    ig_first_line(call, range, scratch, &set);
}

void conv_f32_first3s2c3__neon(const struct ig_call *call, struct ig_range range, void *scratch)
{
    static const struct ig_first_line_set set = {ig_first_3s2c3_16_neon, ig_first_3s2c3_8_neon, NULL, ig_act_row_neon, 0};
    ig_first_line(call, range, scratch, &set);
}
