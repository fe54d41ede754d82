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

#define KERNEL(name) conv_f32_winograd##name##_6x16__neon
#define GEMM ig_gemm_packed6x16_neon
#include "kernels_cpu/common/winograd_kernels.inc"
