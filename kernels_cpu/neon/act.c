/* Activations over a run of floats: one loop per kind, the formula inlined into it. */
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

INLINE float32x4_t sigmoid4(float32x4_t x)
{
    return vdivq_f32(ONE, vaddq_f32(ONE, ig_exp4(vnegq_f32(x))));
}

/* e/(e+2), e = e^(2|x|) - 1, with the sign of x; 1 beyond 10. */
INLINE float32x4_t tanh4(float32x4_t x)
{
    float32x4_t e = ig_expm14(vminq_f32(vaddq_f32(vabsq_f32(x), vabsq_f32(x)), vdupq_n_f32(20)));
    return with_sign(vdivq_f32(e, vaddq_f32(e, vdupq_n_f32(2))), x);
}

INLINE float32x4_t unit4(float32x4_t x)
{
    return vminq_f32(vmaxq_f32(x, ZERO), ONE);
}

DEFINE(none)
{
    UNUSED;
    return x;
}

DEFINE(relu)
{
    UNUSED;
    return vmaxq_f32(x, ZERO);
}

DEFINE(clip)
{
    return vminq_f32(vmaxq_f32(x, a), b);
}

DEFINE(leaky)
{
    UNUSED;
    return if_negative(x, vmulq_f32(x, a), x);
}

DEFINE(sigmoid)
{
    UNUSED;
    return sigmoid4(x);
}

DEFINE(tangent)
{
    UNUSED;
    return tanh4(x);
}

DEFINE(hard_sigmoid)
{
    return unit4(vfmaq_f32(b, a, x));
}

DEFINE(hard_swish)
{
    UNUSED;
    float32x4_t three = vdupq_n_f32(3), six = vdupq_n_f32(6);
    return vmulq_f32(x, vdivq_f32(vminq_f32(vmaxq_f32(vaddq_f32(x, three), ZERO), six), six));
}

DEFINE(swish)
{
    UNUSED;
    return vdivq_f32(x, vaddq_f32(ONE, ig_exp4(vnegq_f32(vmulq_f32(a, x)))));
}

DEFINE(elu)
{
    UNUSED;
    return if_negative(x, vmulq_f32(a, ig_expm14(vminq_f32(x, ZERO))), x);
}

DEFINE(selu)
{
    return vmulq_f32(b, elu(x, a, b));
}

DEFINE(celu)
{
    UNUSED;
    return if_negative(x, vmulq_f32(a, ig_expm14(vminq_f32(vdivq_f32(x, a), ZERO))), x);
}

/* x t/(t+2), t = w(w+2), w = e^x; beyond 20 that is x, and w^2 stays finite. */
DEFINE(mish)
{
    UNUSED;
    float32x4_t two = vdupq_n_f32(2), w = ig_exp4(vminq_f32(x, vdupq_n_f32(20)));
    float32x4_t t = vmulq_f32(w, vaddq_f32(w, two));
    return vmulq_f32(x, vdivq_f32(t, vaddq_f32(t, two)));
}

DEFINE(softplus)
{
    UNUSED;
    return vaddq_f32(vmaxq_f32(x, ZERO), ig_log1p4(ig_exp4(vnegq_f32(vabsq_f32(x)))));
}

/* max(x, 0) - |x| Phi(-|x|); the part of what is below -15 is 0, so that -inf gives NaN, as in the reference. */
DEFINE(gelu)
{
    UNUSED;
    float32x4_t most = vdupq_n_f32(15), z = vabsq_f32(vminq_f32(x, most));
    return vfmsq_f32(vmaxq_f32(x, ZERO), z, ig_normal_tail4(vminq_f32(z, most)));
}

/* x/(1 + e^(-2u)), u = sqrt(2/pi) (x + 0.044715 x^3). Within 3 |2u| + 3 ulp, as 2u is rounded. */
DEFINE(gelu_tangent)
{
    UNUSED;
    float32x4_t u = vfmaq_f32(vdupq_n_f32(1.59576912f), vmulq_f32(x, x), vdupq_n_f32(0.0713548163f));
    return vdivq_f32(x, vaddq_f32(ONE, ig_exp4(vnegq_f32(vmulq_f32(u, x)))));
}

DEFINE(softsign)
{
    UNUSED;
    return vdivq_f32(x, vaddq_f32(ONE, vabsq_f32(x)));
}

DEFINE(thresholded)
{
    UNUSED;
    return vbslq_f32(vcgtq_f32(x, a), x, ZERO);
}

DEFINE(shrink)
{
    uint32x4_t below = vcltq_f32(x, vnegq_f32(a)), above = vcgtq_f32(x, a);
    return vbslq_f32(below, vaddq_f32(x, b), vbslq_f32(above, vsubq_f32(x, b), ZERO));
}

DEFINE(affine)
{
    return vfmaq_f32(b, a, x);
}

DEFINE(absolute)
{
    UNUSED;
    return vabsq_f32(x);
}

DEFINE(negative)
{
    UNUSED;
    return vnegq_f32(x);
}

DEFINE(ceiling)
{
    UNUSED;
    return vrndpq_f32(x);
}

DEFINE(floored)
{
    UNUSED;
    return vrndmq_f32(x);
}

DEFINE(rounded)
{
    UNUSED;
    return vrndnq_f32(x);
}

/* 0 and NaN stay. */
DEFINE(sign)
{
    UNUSED;
    return vbslq_f32(vorrq_u32(vcltzq_f32(x), vcgtzq_f32(x)), with_sign(ONE, x), x);
}

DEFINE(reciprocal)
{
    UNUSED;
    return vdivq_f32(ONE, x);
}

DEFINE(root)
{
    UNUSED;
    return vsqrtq_f32(x);
}

DEFINE(exponential)
{
    UNUSED;
    return ig_exp4(x);
}

DEFINE(logarithm)
{
    UNUSED;
    return ig_log4(x);
}

DEFINE(error_function)
{
    UNUSED;
    return with_sign(ig_erf4(vminq_f32(vabsq_f32(x), vdupq_n_f32(4))), x);
}

DEFINE(arctangent)
{
    UNUSED;
    return with_sign(ig_atan4(vabsq_f32(x)), x);
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

/* The kinds known, with their formulas. */
#define KINDS(K)                                                                                         \
    K(IG_NONE, none) K(IG_RELU, relu) K(IG_CLIP, clip) K(IG_LEAKY_RELU, leaky) K(IG_SIGMOID, sigmoid)    \
    K(IG_TANH, tangent) K(IG_HARD_SIGMOID, hard_sigmoid) K(IG_HARD_SWISH, hard_swish) K(IG_SWISH, swish) \
    K(IG_ELU, elu) K(IG_MISH, mish) K(IG_SOFTPLUS, softplus) K(IG_SELU, selu) K(IG_CELU, celu)           \
    K(IG_SOFTSIGN, softsign) K(IG_THRESHOLDED_RELU, thresholded) K(IG_AFFINE, affine)                    \
    K(IG_ABS, absolute) K(IG_NEG, negative) K(IG_CEIL, ceiling) K(IG_FLOOR, floored)                     \
    K(IG_ROUND, rounded) K(IG_RECIPROCAL, reciprocal) K(IG_SQRT, root) K(IG_EXP, exponential)            \
    K(IG_LOG, logarithm) K(IG_SHRINK, shrink) K(IG_SIGN, sign)

/* And those whose formulas are long. */
#define LONG_KINDS(K) K(IG_GELU, gelu) K(IG_GELU_TANH, gelu_tangent) K(IG_ERF, error_function) K(IG_ATAN, arctangent)

void ig_act_row_neon(float *y, const float *x, int64_t n, const struct ig_act *act)
{
    switch (act->kind) {
#define RUN(kind, f)                                                                                       \
    case kind:                                                                                             \
        run(y, x, n, act, f);                                                                              \
        break;
        KINDS(RUN)
#undef RUN
#define RUN(kind, f)                                                                                       \
    case kind:                                                                                             \
        run_long(y, x, n, act, f);                                                                         \
        break;
        LONG_KINDS(RUN)
#undef RUN
    default:
        break;
    }
}
