/*
 * exp, expm1, log, log1p, erf, the normal distribution and atan on four floats, without libm.
 *
 * exp:   x = n ln 2 + r, |r| <= ln 2 / 2;  e^r = 1 + q, q = r + r^2 P(r), P of degree 4, minimax relative
 *        to e^r (2^-28). The scale 2^n is applied in two halves, so that results round to denormals,
 *        zero and infinity as they should.
 * expm1: 2^n q + (2^n - 1): no cancellation near 0.
 * log:   2 atanh(s) = 2 s + 2 s t P(t), t = s^2 <= 1/9, P of degree 3, minimax (2^-27).
 * Phi(-z): e^(-z^2/2) P(z)/R(z), of degrees 4 and 5, minimax relative on [0, 15] (2^-27; all coefficients are positive; as floats
 *        2^-25.3). The rounding of z^2, which e^ would multiply, is added to the result.
 * erf:   z + z P(z^2), P of degree 5, up to 15/16 (2^-25.7), then 1 - e^(-P(z)), P of degree 5, up to 4 (2^-25.2): minimax, relative.
 * atan:  s P(s^2), P of degree 8, minimax relative on [0, 1] (2^-26), of 1/z where z > 1.
 * The last three are fitted by the Remez algorithm in 40 digits.
 *
 * Errors against a double result, over all of the range: exp 1 ulp, expm1 2, log 2, log1p 2; of every 11th float: erf and atan 2,
 * x Phi(x) 4 where x > -1, 6 down to -5, 11 down to -13.
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

/* The normal distribution's part below -z; z in [0, 15]. */
static inline float32x4_t ig_normal_tail4(float32x4_t z)
{
    float32x4_t square = vmulq_f32(z, z), rest = vfmaq_f32(vnegq_f32(square), z, z), half = vdupq_n_f32(0.5f);
    float32x4_t e = ig_exp4(vmulq_n_f32(square, -0.5f));
    float32x4_t p = vdupq_n_f32(0.00415321859f), r = vdupq_n_f32(0.0104104634f);
    e = vfmsq_f32(e, vmulq_n_f32(e, 0.5f), rest);
    p = vfmaq_f32(vdupq_n_f32(0.0408810489f), p, z);
    p = vfmaq_f32(vdupq_n_f32(0.183968902f), p, z);
    p = vfmaq_f32(vdupq_n_f32(0.439283103f), p, z);
    p = vfmaq_f32(half, p, z);
    r = vfmaq_f32(vdupq_n_f32(0.102479711f), r, z);
    r = vfmaq_f32(vdupq_n_f32(0.471408069f), r, z);
    r = vfmaq_f32(vdupq_n_f32(1.20554721f), r, z);
    r = vfmaq_f32(vdupq_n_f32(1.67645121f), r, z);
    r = vfmaq_f32(vdupq_n_f32(1), r, z);
    return vdivq_f32(vmulq_f32(e, p), r);
}

/* erf(z); z in [0, 4]. */
static inline float32x4_t ig_erf4(float32x4_t z)
{
    float32x4_t t = vmulq_f32(z, z), p = vdupq_n_f32(-0.000591942051f), q = vdupq_n_f32(-0.00122168066f);
    p = vfmaq_f32(vdupq_n_f32(0.00497913081f), p, t);
    p = vfmaq_f32(vdupq_n_f32(-0.0267570354f), p, t);
    p = vfmaq_f32(vdupq_n_f32(0.112815522f), p, t);
    p = vfmaq_f32(vdupq_n_f32(-0.37612468f), p, t);
    p = vfmaq_f32(vdupq_n_f32(0.128379151f), p, t);
    q = vfmaq_f32(vdupq_n_f32(0.0153448358f), q, z);
    q = vfmaq_f32(vdupq_n_f32(-0.0903935507f), q, z);
    q = vfmaq_f32(vdupq_n_f32(-0.651821434f), q, z);
    q = vfmaq_f32(vdupq_n_f32(-1.11941564f), q, z);
    q = vfmaq_f32(vdupq_n_f32(-0.00209790422f), q, z);
    q = vsubq_f32(vdupq_n_f32(1), ig_exp4(q));
    return vbslq_f32(vcltq_f32(z, vdupq_n_f32(0.9375f)), vfmaq_f32(z, z, p), q);
}

/* atan(z); z >= 0. */
static inline float32x4_t ig_atan4(float32x4_t z)
{
    float32x4_t one = vdupq_n_f32(1), s = vdivq_f32(vminq_f32(z, one), vmaxq_f32(z, one)), t = vmulq_f32(s, s), p = vdupq_n_f32(0.00284990668f);
    p = vfmaq_f32(vdupq_n_f32(-0.0160686951f), p, t);
    p = vfmaq_f32(vdupq_n_f32(0.0426916257f), p, t);
    p = vfmaq_f32(vdupq_n_f32(-0.0750430301f), p, t);
    p = vfmaq_f32(vdupq_n_f32(0.106409378f), p, t);
    p = vfmaq_f32(vdupq_n_f32(-0.142036453f), p, t);
    p = vfmaq_f32(vdupq_n_f32(0.199926198f), p, t);
    p = vfmaq_f32(vdupq_n_f32(-0.333330721f), p, t);
    p = vfmaq_f32(s, vmulq_f32(s, t), p);
    return vbslq_f32(vcgtq_f32(z, one), vsubq_f32(vdupq_n_f32(1.57079633f), p), p); /* pi/2 */
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
