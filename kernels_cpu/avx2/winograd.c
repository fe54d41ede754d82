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

#define KERNEL(name) conv_f32_winograd##name##_6x16__avx2
#define GEMM ig_gemm_6x16_avx2
#include "kernels_cpu/common/winograd_kernels.inc"

TILES(1x4of3, f1of3, f4of3)
TILES(2x4of3, f2of3, f4of3)

static void filter_1x4(const struct ig_winograd_filter *args)
{
    filter_row(args, 1, &factors1, 4, &factors4);
}

static void filter_2x4(const struct ig_winograd_filter *args)
{
    filter_row(args, 2, &factors2, 4, &factors4);
}

void conv_f32_winograd2_raw6x16__avx2(const struct ig_call *call, struct ig_range range, void *scratch)
{
    static const struct ig_winograd_set set = {2, 2, in_2of3, out_2of3, &ig_gemm_6x16_avx2, filter_2, IG_WINOGRAD_LEAN_TILES};
    ig_winograd(call, range, scratch, &set);
}

void conv_f32_winograd4_raw6x16__avx2(const struct ig_call *call, struct ig_range range, void *scratch)
{
    static const struct ig_winograd_set set = {4, 4, in_4of3, out_4of3, &ig_gemm_6x16_avx2, filter_4, IG_WINOGRAD_RAW_TILES};
    ig_winograd(call, range, scratch, &set);
}

void conv_f32_winograd4_rawlean6x16__avx2(const struct ig_call *call, struct ig_range range, void *scratch)
{
    static const struct ig_winograd_set set = {4, 4, in_4of3, out_4of3, &ig_gemm_6x16_avx2, filter_4, IG_WINOGRAD_LEAN_TILES};
    ig_winograd(call, range, scratch, &set);
}

void conv_f32_winograd1x4_raw6x16__avx2(const struct ig_call *call, struct ig_range range, void *scratch)
{
    static const struct ig_winograd_set set = {1, 4, in_1x4of3, out_1x4of3, &ig_gemm_6x16_avx2, filter_1x4, IG_WINOGRAD_LEAN_TILES};
    ig_winograd(call, range, scratch, &set);
}

void conv_f32_winograd2x4_raw6x16__avx2(const struct ig_call *call, struct ig_range range, void *scratch)
{
    static const struct ig_winograd_set set = {2, 4, in_2x4of3, out_2x4of3, &ig_gemm_6x16_avx2, filter_2x4, IG_WINOGRAD_LEAN_TILES};
    ig_winograd(call, range, scratch, &set);
}
