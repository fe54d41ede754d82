/* Depthwise convolution, 3x3, 5x5 and 7x7: the kernels of depthwise_direct.S. */
#include <stddef.h>

#include "kernels_cpu/avx512/act.h"
#include "kernels_cpu/avx512/kernels.h"
#include "kernels_cpu/common/depthwise7.h"

#define AT(member, offset) (offsetof(struct ig_direct, member) == (offset))
_Static_assert(AT(n_rows, 8) && AT(w, 16) && AT(w_row, 24) && AT(w_block, 32) && AT(column, 40) && AT(out, 48) &&
                   AT(out_step, 56) && AT(n, 64) && AT(blocks, 72) && AT(outside, 80) && AT(flags, 84) && AT(lo, 88) &&
                   AT(hi, 92) && AT(channels, 96),
               "depthwise_direct.S knows these offsets");

ig_direct_fn ig_direct_3s1_32_avx512, ig_direct_3s1_16_avx512, ig_direct_3s2_32_avx512, ig_direct_3s2_16_avx512,
    ig_direct_5s1_32_avx512, ig_direct_5s1_16_avx512, ig_direct_5s2_32_avx512, ig_direct_5s2_16_avx512,
    ig_direct_7s1_32_avx512, ig_direct_7s1_16_avx512, ig_direct_7s2_32_avx512, ig_direct_7s2_16_avx512;

static const struct ig_depthwise7_set set = {
    {{{ig_direct_3s1_16_avx512, ig_direct_3s1_32_avx512}, {ig_direct_3s2_16_avx512, ig_direct_3s2_32_avx512}},
     {{ig_direct_5s1_16_avx512, ig_direct_5s1_32_avx512}, {ig_direct_5s2_16_avx512, ig_direct_5s2_32_avx512}},
     {{ig_direct_7s1_16_avx512, ig_direct_7s1_32_avx512}, {ig_direct_7s2_16_avx512, ig_direct_7s2_32_avx512}}},
    16, ig_act_pixels_avx512};

void conv_f32_depthwise7x32__avx512(const struct ig_call *call, struct ig_range range, void *scratch)
{
    ig_depthwise7(call, range, scratch, &set);
}
