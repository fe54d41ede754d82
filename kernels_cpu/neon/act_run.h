/* What the files of activations share: how a formula is written, and the loops over a run of floats. */
#ifndef KERNELS_CPU_NEON_ACT_RUN_H
#define KERNELS_CPU_NEON_ACT_RUN_H

#include "kernels_cpu/neon/act.h"
#include "kernels_cpu/neon/vec.h"
#include "kernels_cpu/neon/vmath.h"

#define INLINE static inline __attribute__((always_inline))

#define DEFINE(name) INLINE float32x4_t name(float32x4_t x, float32x4_t a, float32x4_t b)
#define ONE vdupq_n_f32(1)
#define ZERO vdupq_n_f32(0)
#define UNUSED ((void)a, (void)b)

typedef float32x4_t act4(float32x4_t x, float32x4_t a, float32x4_t b);

/* x where it is negative, else y. A NaN counts as not negative. */
INLINE float32x4_t if_negative(float32x4_t x, float32x4_t then, float32x4_t otherwise)
{
    return vbslq_f32(vcltzq_f32(x), then, otherwise);
}

/* y >= 0, with the sign of x. */
INLINE float32x4_t with_sign(float32x4_t y, float32x4_t x)
{
    return vbslq_f32(vdupq_n_u32(0x80000000u), x, y);
}

DEFINE(elu)
{
    UNUSED;
    return if_negative(x, vmulq_f32(a, ig_expm14(vminq_f32(x, ZERO))), x);
}

INLINE void run(float *y, const float *x, int64_t n, const struct ig_act *act, act4 *f)
{
    float32x4_t a = vdupq_n_f32(act->alpha), b = vdupq_n_f32(act->beta);
    int64_t i = 0;
    for (; i + 4 <= n; i += 4) vst1q_f32(y + i, f(vld1q_f32(x + i), a, b));
    if (i < n) ig_store_part(y + i, f(ig_load_part(x + i, n - i), a, b), n - i);
}

/* The same for long formulas: they stand in the code once, rests included. */
INLINE void run_long(float *y, const float *x, int64_t n, const struct ig_act *act, act4 *f)
{
    float32x4_t a = vdupq_n_f32(act->alpha), b = vdupq_n_f32(act->beta);
    for (int64_t i = 0; i < n; i += 4) ig_store_upto4(y + i, f(ig_load_upto4(x + i, n - i), a, b), n - i);
}

#endif
