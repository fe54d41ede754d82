/*
 * Winograd convolution on the micro-kernels of gemm.S: F(4,3) does 4 times, F(2,3) 2.25 times and F(6,3) 5.06
 * times fewer multiplications than the direct kernel. F4 is the one for images at least 14 wide, F2 for 7. The raw
 * ones read the direct kernel's weights, a quarter or less of the transformed: for memory, and where weights are far.
 * F(1x4,3) and F(2x4,3), 2 and 3 times fewer multiplications, are for bands of few rows.
 */
#include <immintrin.h>

#include "kernels_cpu/avx2/gemm.h"
#include "kernels_cpu/avx2/kernels.h"
#include "kernels_cpu/avx2/vec.h"
#include "kernels_cpu/common/blocks.h"

typedef __m256 vec;
enum { LANES = 8 };
#define v_load _mm256_loadu_ps
#define v_store _mm256_storeu_ps
#define v_load_part ig_load_upto8
#define v_store_part ig_store_part
#define v_set _mm256_set1_ps
#define v_add _mm256_add_ps
#define v_sub _mm256_sub_ps
#define v_max _mm256_max_ps
#define v_min _mm256_min_ps
#define v_mul(x, b) _mm256_mul_ps(_mm256_set1_ps(x), b)
#define v_fma(a, x, b) _mm256_fmadd_ps(_mm256_set1_ps(x), b, a)
#include "kernels_cpu/common/winograd_tile.inc"

TILES(2of3, f2of3, f2of3)
TILES(4of3, f4of3, f4of3)
TILES(6of3, f6of3, f6of3)
TILES(1x4of3, f1of3, f4of3)
TILES(2x4of3, f2of3, f4of3)
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

/* Of the points 0, 1, -1 and 0, 3/4, -3/4, 3/2, -3/2: pack/winograd.c. */
static const struct factors factors1 = {1, {{0, 0}}, {1}};
static const struct factors factors2 = {-1, {{0.5f, 0.5f}}, {0.5f}};
static const struct factors factors4 = {
    64 / 81.f, {{-128 / 243.f, -8 / 27.f}, {32 / 243.f, 8 / 27.f}}, {-32 / 81.f, 16 / 81.f}};

static void filter_2(const struct ig_winograd_filter *args)
{
    filter_row(args, 2, &factors2, 2, &factors2);
}

static void filter_4(const struct ig_winograd_filter *args)
{
    filter_row(args, 4, &factors4, 4, &factors4);
}

static void filter_1x4(const struct ig_winograd_filter *args)
{
    filter_row(args, 1, &factors1, 4, &factors4);
}

static void filter_2x4(const struct ig_winograd_filter *args)
{
    filter_row(args, 2, &factors2, 4, &factors4);
}

void conv_f32_winograd2_6x16__avx2(const struct ig_call *call, struct ig_range range, void *scratch)
{
    static const struct ig_winograd_set set = {2, 2, in_2of3, out_2of3, &ig_gemm_6x16_avx2, NULL, 0};
    ig_winograd(call, range, scratch, &set);
}

void conv_f32_winograd4_6x16__avx2(const struct ig_call *call, struct ig_range range, void *scratch)
{
    static const struct ig_winograd_set set = {4, 4, in_4of3, out_4of3, &ig_gemm_6x16_avx2, NULL, 0};
    ig_winograd(call, range, scratch, &set);
}

void conv_f32_winograd6_6x16__avx2(const struct ig_call *call, struct ig_range range, void *scratch)
{
    static const struct ig_winograd_set set = {6, 6, in_6of3, out_6of3, &ig_gemm_6x16_avx2, NULL, 0};
    ig_winograd(call, range, scratch, &set);
}

void conv_f32_winograd2_raw6x16__avx2(const struct ig_call *call, struct ig_range range, void *scratch)
{
    static const struct ig_winograd_set set = {2, 2, in_2of3, out_2of3, &ig_gemm_6x16_avx2, filter_2, IG_WINOGRAD_LEAN_GROUPS};
    ig_winograd(call, range, scratch, &set);
}

void conv_f32_winograd4_raw6x16__avx2(const struct ig_call *call, struct ig_range range, void *scratch)
{
    static const struct ig_winograd_set set = {4, 4, in_4of3, out_4of3, &ig_gemm_6x16_avx2, filter_4, IG_WINOGRAD_RAW_GROUPS};
    ig_winograd(call, range, scratch, &set);
}

void conv_f32_winograd4_rawlean6x16__avx2(const struct ig_call *call, struct ig_range range, void *scratch)
{
    static const struct ig_winograd_set set = {4, 4, in_4of3, out_4of3, &ig_gemm_6x16_avx2, filter_4, IG_WINOGRAD_LEAN_GROUPS};
    ig_winograd(call, range, scratch, &set);
}

void conv_f32_winograd1x4_raw6x16__avx2(const struct ig_call *call, struct ig_range range, void *scratch)
{
    static const struct ig_winograd_set set = {1, 4, in_1x4of3, out_1x4of3, &ig_gemm_6x16_avx2, filter_1x4, IG_WINOGRAD_LEAN_GROUPS};
    ig_winograd(call, range, scratch, &set);
}

void conv_f32_winograd2x4_raw6x16__avx2(const struct ig_call *call, struct ig_range range, void *scratch)
{
    static const struct ig_winograd_set set = {2, 4, in_2x4of3, out_2x4of3, &ig_gemm_6x16_avx2, filter_2x4, IG_WINOGRAD_LEAN_GROUPS};
    ig_winograd(call, range, scratch, &set);
}

void conv_f32_winograd2of5_6x16__avx2(const struct ig_call *call, struct ig_range range, void *scratch)
{
    static const struct ig_winograd_set set = {2, 2, in_2of5, out_2of5, &ig_gemm_6x16_avx2, NULL, 0};
    ig_winograd(call, range, scratch, &set);
}

void conv_f32_winograd4of5_6x16__avx2(const struct ig_call *call, struct ig_range range, void *scratch)
{
    static const struct ig_winograd_set set = {4, 4, in_4of5, out_4of5, &ig_gemm_6x16_avx2, NULL, 0};
    ig_winograd(call, range, scratch, &set);
}

void conv_f32_winograd2of7_6x16__avx2(const struct ig_call *call, struct ig_range range, void *scratch)
{
    static const struct ig_winograd_set set = {2, 2, in_2of7, out_2of7, &ig_gemm_6x16_avx2, NULL, 0};
    ig_winograd(call, range, scratch, &set);
}

void conv_f32_winograd2s2_6x16__avx2(const struct ig_call *call, struct ig_range range, void *scratch)
{
    static const struct ig_winograd_set set = {2, 2, in_2s2, out_2s2, &ig_gemm_6x16_avx2, NULL, 0};
    ig_winograd(call, range, scratch, &set);
}

void conv_f32_winograd4s2_6x16__avx2(const struct ig_call *call, struct ig_range range, void *scratch)
{
    static const struct ig_winograd_set set = {4, 4, in_4s2, out_4s2, &ig_gemm_6x16_avx2, NULL, 0};
    ig_winograd(call, range, scratch, &set);
}

/* By taps: 3, 5, 7. */
void conv_f32_winograd4row_6x16__avx2(const struct ig_call *call, struct ig_range range, void *scratch)
{
    static const struct ig_winograd_set sets[] = {{1, 4, in_row_of3, out_row_of3, &ig_gemm_6x16_avx2, NULL, 0},
                                                 {1, 4, in_row_of5, out_row_of5, &ig_gemm_6x16_avx2, NULL, 0},
                                                 {1, 4, in_row_of7, out_row_of7, &ig_gemm_6x16_avx2, NULL, 0}};
    ig_winograd(call, range, scratch, &sets[((const struct ig_conv *)call->attrs)->w.kw / 2 - 1]);
}

void conv_f32_winograd4column_6x16__avx2(const struct ig_call *call, struct ig_range range, void *scratch)
{
    static const struct ig_winograd_set sets[] = {{4, 1, in_column_of3, out_column_of3, &ig_gemm_6x16_avx2, NULL, 0},
                                                 {4, 1, in_column_of5, out_column_of5, &ig_gemm_6x16_avx2, NULL, 0},
                                                 {4, 1, in_column_of7, out_column_of7, &ig_gemm_6x16_avx2, NULL, 0}};
    ig_winograd(call, range, scratch, &sets[((const struct ig_conv *)call->attrs)->w.kh / 2 - 1]);
}
