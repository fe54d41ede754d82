/*
 * Winograd convolution on the micro-kernels of gemm_packed.S: F(4,3) does 4 times, F(2,3) 2.25 times and
 * F(6,3) 5.06 times fewer multiplications than the direct kernel. The transforms share the vector pipe with the
 * multiplications, so they weigh more than on a wide core, and the more the fewer channels there are.
 */
#include <arm_neon.h>

#include "kernels_cpu/neon/gemm.h"
#include "kernels_cpu/neon/kernels.h"
#include "kernels_cpu/neon/vec.h"

typedef float32x4_t vec;
enum { LANES = 4 };
#define v_load vld1q_f32
#define v_store vst1q_f32
#define v_load_part ig_load_part
#define v_store_part ig_store_part
#define v_set vdupq_n_f32
#define v_add vaddq_f32
#define v_sub vsubq_f32
#define v_max vmaxq_f32
#define v_min vminq_f32
#define v_mul(x, b) vmulq_n_f32(b, x)
#define v_fma(a, x, b) vfmaq_n_f32(a, b, x)
#include "kernels_cpu/common/winograd_tile.inc"

static void in_2(const struct ig_winograd_in *args)
{
    tiles_in(args, 2, in2, 2, in2);
}

static void out_2(const struct ig_winograd_out *args)
{
    tile_out(args, 2, out2, 2, out2);
}

static void in_4(const struct ig_winograd_in *args)
{
    tiles_in(args, 4, in4, 4, in4);
}

static void out_4(const struct ig_winograd_out *args)
{
    tile_out(args, 4, out4, 4, out4);
}

static void in_6(const struct ig_winograd_in *args)
{
    tiles_in(args, 6, in6, 6, in6);
}

static void out_6(const struct ig_winograd_out *args)
{
    tile_out(args, 6, out6, 6, out6);
}

void conv_f32_winograd2_6x16__neon(const struct ig_call *call, struct ig_range range, void *scratch)
{
    static const struct ig_winograd_set set = {2, 2, in_2, out_2, &ig_gemm_packed6x16_neon, NULL, 0};
    ig_winograd(call, range, scratch, &set);
}

void conv_f32_winograd4_6x16__neon(const struct ig_call *call, struct ig_range range, void *scratch)
{
    static const struct ig_winograd_set set = {4, 4, in_4, out_4, &ig_gemm_packed6x16_neon, NULL, 0};
    ig_winograd(call, range, scratch, &set);
}

void conv_f32_winograd6_6x16__neon(const struct ig_call *call, struct ig_range range, void *scratch)
{
    static const struct ig_winograd_set set = {6, 6, in_6, out_6, &ig_gemm_packed6x16_neon, NULL, 0};
    ig_winograd(call, range, scratch, &set);
}
