/*
 * exp, expm1, log and log1p on four floats, without libm.
 *
 * exp:   x = n ln 2 + r, |r| <= ln 2 / 2;  e^r = 1 + q, q = r + r^2 P(r), P of degree 4, minimax relative
 *        to e^r (2^-28). The scale 2^n is applied in two halves, so that results round to denormals,
 *        zero and infinity as they should.
 * expm1: 2^n q + (2^n - 1): no cancellation near 0.
 * log:   2 atanh(s) = 2 s + 2 s t P(t), t = s^2 <= 1/9, P of degree 3, minimax (2^-27).
 *
 * Errors against a double result, over all of the range: exp 1 ulp, expm1 2, log 2, log1p 2.
 */
#ifndef KERNELS_CPU_NEON_VMATH_H
#define KERNELS_CPU_NEON_VMATH_H

#include <arm_neon.h>

/* 2^n; n in [-126, 127]. */
static inline float32x4_t ig_pow2i4(int32x4_t n)
{
    return vreinterpretq_f32_s32(vshlq_n_s32(vaddq_s32(n, vdupq_n_s32(127)), 23));
}

/* q = e^r - 1 where x = n ln 2 + r; *n as integers. A NaN gives q = NaN. */
static inline float32x4_t ig_exp_reduce4(float32x4_t x, int32x4_t *n)
{
    float32x4_t k = vrndnq_f32(vmulq_n_f32(x, 1.44269504f));
    float32x4_t r = vfmsq_f32(x, k, vdupq_n_f32(0.693145752f)); /* ln 2, upper 15 bits: k times it is exact */
    r = vfmsq_f32(r, k, vdupq_n_f32(1.42860677e-6f));           /* and the rest */
    float32x4_t p = vdupq_n_f32(0.00138131448f);
    p = vfmaq_f32(vdupq_n_f32(0.00836941879f), p, r);
    p = vfmaq_f32(vdupq_n_f32(0.041668456f), p, r);
    p = vfmaq_f32(vdupq_n_f32(0.166665152f), p, r);
    p = vfmaq_f32(vdupq_n_f32(0.49999994f), p, r);
    *n = vcvtq_s32_f32(k);
    return vfmaq_f32(r, vmulq_f32(r, r), p);
}

static inline float32x4_t ig_exp4(float32x4_t x)
{
    int32x4_t n;
    x = vminq_f32(vmaxq_f32(x, vdupq_n_f32(-110)), vdupq_n_f32(90)); /* keep a NaN; beyond: 0 and inf */
    float32x4_t y = vaddq_f32(vdupq_n_f32(1), ig_exp_reduce4(x, &n));
    int32x4_t half = vshrq_n_s32(n, 1);
    return vmulq_f32(vmulq_f32(y, ig_pow2i4(half)), ig_pow2i4(vsubq_s32(n, half)));
}

/* x <= 60: what its callers need; -1 from about -17 on down. */
static inline float32x4_t ig_expm14(float32x4_t x)
{
    int32x4_t n;
    x = vmaxq_f32(x, vdupq_n_f32(-60));
    float32x4_t q = ig_exp_reduce4(x, &n), s = ig_pow2i4(n);
    return vfmaq_f32(vsubq_f32(s, vdupq_n_f32(1)), s, q);
}

/* ln((1+s)/(1-s)); |s| <= 1/3. */
static inline float32x4_t ig_log_ratio4(float32x4_t s)
{
    float32x4_t t = vmulq_f32(s, s), p = vdupq_n_f32(0.140137896f);
    p = vfmaq_f32(vdupq_n_f32(0.139993563f), p, t);
    p = vfmaq_f32(vdupq_n_f32(0.200108543f), p, t);
    p = vfmaq_f32(vdupq_n_f32(0.333332062f), p, t);
    s = vaddq_f32(s, s);
    return vfmaq_f32(s, vmulq_f32(s, t), p);
}

/* ln(1 + x); x in [0, 1]. */
static inline float32x4_t ig_log1p4(float32x4_t x)
{
    return ig_log_ratio4(vdivq_f32(x, vaddq_f32(x, vdupq_n_f32(2))));
}

/* ln(x): x = m 2^e, m in [sqrt 1/2, sqrt 2). Normal x > 0, inf; zero gives -inf, x < 0 and NaN give NaN. */
static inline float32x4_t ig_log4(float32x4_t x)
{
    int32x4_t tiny = vreinterpretq_s32_u32(vcltq_f32(x, vdupq_n_f32(1.17549435e-38f)));
    float32x4_t big = vbslq_f32(vreinterpretq_u32_s32(tiny), vmulq_n_f32(x, 8388608.f), x);
    int32x4_t e = vsubq_s32(vreinterpretq_s32_f32(big), vdupq_n_s32(0x3f3504f3)); /* bits of sqrt 1/2 */
    e = vshrq_n_s32(e, 23);
    float32x4_t m = vreinterpretq_f32_s32(vsubq_s32(vreinterpretq_s32_f32(big), vshlq_n_s32(e, 23)));
    e = vaddq_s32(e, vandq_s32(tiny, vdupq_n_s32(-23)));
    float32x4_t one = vdupq_n_f32(1), k = vcvtq_f32_s32(e);
    float32x4_t y = ig_log_ratio4(vdivq_f32(vsubq_f32(m, one), vaddq_f32(m, one)));
    y = vfmaq_f32(y, k, vdupq_n_f32(1.42860677e-6f));
    y = vfmaq_f32(y, k, vdupq_n_f32(0.693145752f));
    float32x4_t inf = vdupq_n_f32(__builtin_inff());
    y = vbslq_f32(vceqq_f32(x, inf), x, y);
    y = vbslq_f32(vceqzq_f32(x), vnegq_f32(inf), y);
    return vbslq_f32(vcgeq_f32(x, vdupq_n_f32(0)), y, vdupq_n_f32(__builtin_nanf("")));
}

#endif
