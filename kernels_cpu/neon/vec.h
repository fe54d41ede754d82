/* Four floats at a time: the load and store of a run's last elements, which touch nothing beyond them. */
#ifndef KERNELS_CPU_NEON_VEC_H
#define KERNELS_CPU_NEON_VEC_H

#include <arm_neon.h>
#include <stdint.h>

/* p[0, n) in lanes 0.., zero in the others; n in 1..3. */
static inline float32x4_t ig_load_part(const float *p, int64_t n)
{
    float32x4_t v = vdupq_n_f32(0);
    if (n == 1) return vld1q_lane_f32(p, v, 0);
    v = vcombine_f32(vld1_f32(p), vget_high_f32(v));
    return n == 3 ? vld1q_lane_f32(p + 2, v, 2) : v;
}

/* Lanes [0, n) to p; n in 1..3. */
static inline void ig_store_part(float *p, float32x4_t v, int64_t n)
{
    if (n == 1) {
        vst1q_lane_f32(p, v, 0);
        return;
    }
    vst1_f32(p, vget_low_f32(v));
    if (n == 3) vst1q_lane_f32(p + 2, v, 2);
}

/* The same for n >= 1, where four or more are a full vector. */
static inline float32x4_t ig_load_upto4(const float *p, int64_t n)
{
    return n >= 4 ? vld1q_f32(p) : ig_load_part(p, n);
}

static inline void ig_store_upto4(float *p, float32x4_t v, int64_t n)
{
    if (n >= 4)
        vst1q_f32(p, v);
    else
        ig_store_part(p, v, n);
}

#endif
