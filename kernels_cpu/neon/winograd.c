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

TILES(2of3, f2of3, f2of3)
TILES(4of3, f4of3, f4of3)
TILES(6of3, f6of3, f6of3)
TILES(2of5, f2of5, f2of5)
TILES(4of5, f4of5, f4of5)
TILES(2of7, f2of7, f2of7)
TILES(2s2, f2of3s2, f2of3s2)
TILES(4s2, f4of3s2, f4of3s2)
TILES(row_of3, f1of1, f4of3)
TILES(row_of5, f1of1, f4of5)
TILES(row_of7, f1of1, f4of7)
TILES(column_of3, f4of3, f1of1)
TILES(column_of5, f4of5, f1of1)
TILES(column_of7, f4of7, f1of1)

void conv_f32_winograd2_6x16__neon(const struct ig_call *call, struct ig_range range, void *scratch)
{
    static const struct ig_winograd_set set = {2, 2, in_2of3, out_2of3, &ig_gemm_packed6x16_neon, NULL, 0};
    ig_winograd(call, range, scratch, &set);
}

void conv_f32_winograd4_6x16__neon(const struct ig_call *call, struct ig_range range, void *scratch)
{
    static const struct ig_winograd_set set = {4, 4, in_4of3, out_4of3, &ig_gemm_packed6x16_neon, NULL, 0};
    ig_winograd(call, range, scratch, &set);
}

void conv_f32_winograd6_6x16__neon(const struct ig_call *call, struct ig_range range, void *scratch)
{
    static const struct ig_winograd_set set = {6, 6, in_6of3, out_6of3, &ig_gemm_packed6x16_neon, NULL, 0};
    ig_winograd(call, range, scratch, &set);
}

void conv_f32_winograd2of5_6x16__neon(const struct ig_call *call, struct ig_range range, void *scratch)
{
    static const struct ig_winograd_set set = {2, 2, in_2of5, out_2of5, &ig_gemm_packed6x16_neon, NULL, 0};
    ig_winograd(call, range, scratch, &set);
}

void conv_f32_winograd4of5_6x16__neon(const struct ig_call *call, struct ig_range range, void *scratch)
{
    static const struct ig_winograd_set set = {4, 4, in_4of5, out_4of5, &ig_gemm_packed6x16_neon, NULL, 0};
    ig_winograd(call, range, scratch, &set);
}

void conv_f32_winograd2of7_6x16__neon(const struct ig_call *call, struct ig_range range, void *scratch)
{
    static const struct ig_winograd_set set = {2, 2, in_2of7, out_2of7, &ig_gemm_packed6x16_neon, NULL, 0};
    ig_winograd(call, range, scratch, &set);
}

void conv_f32_winograd2s2_6x16__neon(const struct ig_call *call, struct ig_range range, void *scratch)
{
    static const struct ig_winograd_set set = {2, 2, in_2s2, out_2s2, &ig_gemm_packed6x16_neon, NULL, 0};
    ig_winograd(call, range, scratch, &set);
}

void conv_f32_winograd4s2_6x16__neon(const struct ig_call *call, struct ig_range range, void *scratch)
{
    static const struct ig_winograd_set set = {4, 4, in_4s2, out_4s2, &ig_gemm_packed6x16_neon, NULL, 0};
    ig_winograd(call, range, scratch, &set);
}

/* By taps: 3, 5, 7. */
void conv_f32_winograd4row_6x16__neon(const struct ig_call *call, struct ig_range range, void *scratch)
{
    static const struct ig_winograd_set sets[] = {{1, 4, in_row_of3, out_row_of3, &ig_gemm_packed6x16_neon, NULL, 0},
                                                 {1, 4, in_row_of5, out_row_of5, &ig_gemm_packed6x16_neon, NULL, 0},
                                                 {1, 4, in_row_of7, out_row_of7, &ig_gemm_packed6x16_neon, NULL, 0}};
    ig_winograd(call, range, scratch, &sets[((const struct ig_conv *)call->attrs)->w.kw / 2 - 1]);
}

void conv_f32_winograd4column_6x16__neon(const struct ig_call *call, struct ig_range range, void *scratch)
{
    static const struct ig_winograd_set sets[] = {{4, 1, in_column_of3, out_column_of3, &ig_gemm_packed6x16_neon, NULL, 0},
                                                 {4, 1, in_column_of5, out_column_of5, &ig_gemm_packed6x16_neon, NULL, 0},
                                                 {4, 1, in_column_of7, out_column_of7, &ig_gemm_packed6x16_neon, NULL, 0}};
    ig_winograd(call, range, scratch, &sets[((const struct ig_conv *)call->attrs)->w.kh / 2 - 1]);
}
