/* First layer, the common kernel sizes (kernels_cpu/common/first_line.h). Eight channels are left to the AVX2 kernels. */
#include "kernels_cpu/common/first_line.h"

#include "kernels_cpu/avx512/act.h"
#include "kernels_cpu/avx2/first_line.h"
#include "kernels_cpu/avx512/kernels.h"

ig_first_line_fn ig_first_3s1c3_32_avx512, ig_first_3s1c3_16_avx512,
    ig_first_3s2c3_32_avx512, ig_first_3s2c3_16_avx512,
    ig_first_5s1c3_32_avx512, ig_first_5s1c3_16_avx512,
    ig_first_5s2c3_32_avx512, ig_first_5s2c3_16_avx512,
    ig_first_7s2c3_32_avx512, ig_first_7s2c3_16_avx512,
    ig_first_3s1c1_32_avx512, ig_first_3s1c1_16_avx512,
    ig_first_5s1c1_32_avx512, ig_first_5s1c1_16_avx512;

void conv_f32_first3s1c3__avx512(const struct ig_call *call, struct ig_range range, void *scratch)
{
    static const struct ig_first_line_set set = {ig_first_3s1c3_16_avx512, ig_first_3s1c3_8_avx2, ig_first_3s1c3_32_avx512,
                                                 ig_act_row_avx512, 1};
    ig_first_line(call, range, scratch, &set);
}

void conv_f32_first3s2c3__avx512(const struct ig_call *call, struct ig_range range, void *scratch)
{
    static const struct ig_first_line_set set = {ig_first_3s2c3_16_avx512, ig_first_3s2c3_8_avx2, ig_first_3s2c3_32_avx512,
                                                 ig_act_row_avx512, 1};
    ig_first_line(call, range, scratch, &set);
}

void conv_f32_first5s1c3__avx512(const struct ig_call *call, struct ig_range range, void *scratch)
{
    static const struct ig_first_line_set set = {ig_first_5s1c3_16_avx512, ig_first_5s1c3_8_avx2, ig_first_5s1c3_32_avx512,
                                                 ig_act_row_avx512, 0};
    ig_first_line(call, range, scratch, &set);
}

void conv_f32_first5s2c3__avx512(const struct ig_call *call, struct ig_range range, void *scratch)
{
    static const struct ig_first_line_set set = {ig_first_5s2c3_16_avx512, ig_first_5s2c3_8_avx2, ig_first_5s2c3_32_avx512,
                                                 ig_act_row_avx512, 0};
    ig_first_line(call, range, scratch, &set);
}

void conv_f32_first7s2c3__avx512(const struct ig_call *call, struct ig_range range, void *scratch)
{
    static const struct ig_first_line_set set = {ig_first_7s2c3_16_avx512, ig_first_7s2c3_8_avx2, ig_first_7s2c3_32_avx512,
                                                 ig_act_row_avx512, 0};
    ig_first_line(call, range, scratch, &set);
}

void conv_f32_first3s1c1__avx512(const struct ig_call *call, struct ig_range range, void *scratch)
{
    static const struct ig_first_line_set set = {ig_first_3s1c1_16_avx512, ig_first_3s1c1_8_avx2, ig_first_3s1c1_32_avx512,
                                                 ig_act_row_avx512, 1};
    ig_first_line(call, range, scratch, &set);
}

void conv_f32_first5s1c1__avx512(const struct ig_call *call, struct ig_range range, void *scratch)
{
    static const struct ig_first_line_set set = {ig_first_5s1c1_16_avx512, ig_first_5s1c1_8_avx2, ig_first_5s1c1_32_avx512,
                                                 ig_act_row_avx512, 0};
    ig_first_line(call, range, scratch, &set);
}
