/* Vectors of floats by the names that files of kernels_cpu/common/ have for every ISA. */
#ifndef KERNELS_CPU_NEON_LANES_H
#define KERNELS_CPU_NEON_LANES_H

#include "kernels_cpu/neon/vec.h"
#include "kernels_cpu/neon/vmath.h"

enum { N = 4 }; /* lanes */

#define VEC float32x4_t
#define SPLAT(x) vdupq_n_f32(x)
#define LOAD(p) vld1q_f32(p)
#define LOAD_UPTO(p, n) ig_load_upto4(p, n) /* lanes from n on are 0; n >= 1 */
#define STORE(p, v) vst1q_f32(p, v)
#define STORE_UPTO(p, v, n) ig_store_upto4(p, v, n)
#define ADD(a, b) vaddq_f32(a, b)
#define SUB(a, b) vsubq_f32(a, b)
#define MUL(a, b) vmulq_f32(a, b)
#define DIV(a, b) vdivq_f32(a, b)
#define FMA(sum, a, b) vfmaq_f32(sum, a, b)
#define SQRT(x) vsqrtq_f32(x)
#define ABS(x) vabsq_f32(x)
#define EXP(x) ig_exp4(x)
#define LOG(x) ig_log4(x)
#define MAX(a, b) vmaxq_f32(a, b) /* a NaN of either side stays */
#define MIN(a, b) vminq_f32(a, b)
/* x in lanes below n, else y; n in 1..N. */
#define FIRST(x, y, n) ig_first4(x, y, n)
#define TOTAL(x) vaddvq_f32(x)
#define GREATEST(x) vmaxvq_f32(x)
#define LEAST(x) vminvq_f32(x)

static inline float32x4_t ig_first4(float32x4_t x, float32x4_t y, int64_t n)
{
    static const uint32_t lane[4] = {0, 1, 2, 3};
    return vbslq_f32(vcltq_u32(vld1q_u32(lane), vdupq_n_u32((uint32_t)n)), x, y);
}

#endif
