/* Activations that are part of epilogues, over a run of floats: one loop per kind, the formula inlined into it. */
#include "kernels_cpu/neon/act_run.h"

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

/* The kinds known, with their formulas. */
#define KINDS(K)                                                                                         \
    K(IG_NONE, none) K(IG_RELU, relu) K(IG_CLIP, clip) K(IG_LEAKY_RELU, leaky) K(IG_SIGMOID, sigmoid)    \
    K(IG_TANH, tangent) K(IG_HARD_SIGMOID, hard_sigmoid) K(IG_HARD_SWISH, hard_swish) K(IG_SWISH, swish) \
    K(IG_ELU, elu) K(IG_MISH, mish) K(IG_SOFTPLUS, softplus) K(IG_GELU, gelu) K(IG_GELU_TANH, gelu_tangent)

void ig_act_row_neon(float *y, const float *x, int64_t n, const struct ig_act *act)
{
    switch (act->kind) {
#define RUN(kind, f)                                                                                       \
    case kind:                                                                                             \
        run(y, x, n, act, f);                                                                              \
        break;
        KINDS(RUN)
#undef RUN
    default:
        break;
    }
}
