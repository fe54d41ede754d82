/* Winograd convolution on the micro-kernels of gemm.S, with transforms of sixteen channels at a time. */
#include <immintrin.h>

#include "kernels_cpu/avx512/gemm.h"
#include "kernels_cpu/avx512/kernels.h"
#include "kernels_cpu/avx512/vec.h"
#include "kernels_cpu/common/blocks.h"

typedef __m512 vec;
enum { LANES = 16 };
#define v_load _mm512_loadu_ps
#define v_store _mm512_storeu_ps
#define v_load_part ig_load_part16
#define v_store_part ig_store_part16
#define v_set _mm512_set1_ps
#define v_add _mm512_add_ps
#define v_sub _mm512_sub_ps
#define v_max _mm512_max_ps
#define v_min _mm512_min_ps
#define v_mul(x, b) _mm512_mul_ps(_mm512_set1_ps(x), b)
#define v_fma(a, x, b) _mm512_fmadd_ps(_mm512_set1_ps(x), b, a)
#include "kernels_cpu/common/winograd_tile.inc"

#define KERNEL(name) conv_f32_winograd##name##_12x32__avx512
#define GEMM ig_gemm_12x32_avx512
#include "kernels_cpu/common/winograd_kernels.inc"

void conv_f32_winograd2_raw12x32__avx512(const struct ig_call *call, struct ig_range range, void *scratch)
{
    static const struct ig_winograd_set set = {2, 2, in_2of3, out_2of3, &GEMM, filter_2, IG_WINOGRAD_LEAN_TILES};
    ig_winograd(call, range, scratch, &set);
}

void conv_f32_winograd4_raw12x32__avx512(const struct ig_call *call, struct ig_range range, void *scratch)
{
    static const struct ig_winograd_set set = {4, 4, in_4of3, out_4of3, &GEMM, filter_4, IG_WINOGRAD_RAW_TILES};
    ig_winograd(call, range, scratch, &set);
}

void conv_f32_winograd4_rawlean12x32__avx512(const struct ig_call *call, struct ig_range range, void *scratch)
{
    static const struct ig_winograd_set set = {4, 4, in_4of3, out_4of3, &GEMM, filter_4, IG_WINOGRAD_LEAN_TILES};
    ig_winograd(call, range, scratch, &set);
}
