/* Winograd convolution on the micro-kernels of gemm.S, with transforms of sixteen channels at a time. */
#include <immintrin.h>

#include "kernels_cpu/avx512/gemm.h"
#include "kernels_cpu/avx512/kernels.h"
#include "kernels_cpu/avx512/vec.h"

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
