/* Convolution and fully connected by products that are added in halves (common/half_gemm.h): the micro-kernels of gemm.S and gemv.c. */
#include "kernels_cpu/common/half_first.h"
#include "kernels_cpu/fp16/kernels.h"
#include "kernels_cpu/neon/act.h"
#include "kernels_cpu/neon/half.h"

ig_half_tile_fn ig_half_1x8_fp16, ig_half_2x8_fp16, ig_half_3x8_fp16, ig_half_4x8_fp16, ig_half_5x8_fp16, ig_half_6x8_fp16, ig_half_7x8_fp16,
    ig_half_8x8_fp16, ig_half_1x16_fp16, ig_half_2x16_fp16, ig_half_3x16_fp16, ig_half_4x16_fp16, ig_half_5x16_fp16, ig_half_6x16_fp16,
    ig_half_7x16_fp16, ig_half_8x16_fp16;

extern ig_half_pixel_fn ig_half_pixel_fp16;

static ig_half_tile_fn *const w8[IG_HALF_MR] = {ig_half_1x8_fp16, ig_half_2x8_fp16, ig_half_3x8_fp16, ig_half_4x8_fp16,
                                                ig_half_5x8_fp16, ig_half_6x8_fp16, ig_half_7x8_fp16, ig_half_8x8_fp16};
static ig_half_tile_fn *const w16[IG_HALF_MR] = {ig_half_1x16_fp16, ig_half_2x16_fp16, ig_half_3x16_fp16, ig_half_4x16_fp16,
                                                 ig_half_5x16_fp16, ig_half_6x16_fp16, ig_half_7x16_fp16, ig_half_8x16_fp16};
static const struct ig_half_set set = {{w8, w16}, ig_half_pixel_fp16, ig_act_row_neon, ig_widen_neon, ig_narrow_neon};

void conv_f16_8x16__fp16(const struct ig_call *call, struct ig_range range, void *scratch)
{
    ig_half_gemm_conv(call, (const struct ig_conv *)call->attrs, range, scratch, &set);
}

void conv_f16_first8x16__fp16(const struct ig_call *call, struct ig_range range, void *scratch)
{
    ig_half_first(call, range, scratch, &set);
}

void fc_f16_8x16__fp16(const struct ig_call *call, struct ig_range range, void *scratch)
{
    ig_half_gemm_fc(call, range, scratch, &set);
}
