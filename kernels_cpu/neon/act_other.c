/* The element-wise functions that are no part of an epilogue, over a run of floats: as act.c, which programs carry that have none of these. */
#include "kernels_cpu/neon/act_run.h"
#include "kernels_cpu/neon/kernels.h"
#include "kernels_cpu/common/unary.h"

DEFINE(selu)
{
    return vmulq_f32(b, elu(x, a, b));
}

DEFINE(celu)
{
    UNUSED;
    return if_negative(x, vmulq_f32(a, ig_expm14(vminq_f32(vdivq_f32(x, a), ZERO))), x);
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

static void run_other(float *y, const float *x, int64_t n, const struct ig_act *act)
{
    switch (act->kind) {
    case IG_SELU: run_long(y, x, n, act, selu); break;
    case IG_CELU: run_long(y, x, n, act, celu); break;
    case IG_SOFTSIGN: run(y, x, n, act, softsign); break;
    case IG_THRESHOLDED_RELU: run(y, x, n, act, thresholded); break;
    case IG_SHRINK: run(y, x, n, act, shrink); break;
    case IG_AFFINE: run(y, x, n, act, affine); break;
    case IG_ABS: run(y, x, n, act, absolute); break;
    case IG_NEG: run(y, x, n, act, negative); break;
    case IG_CEIL: run(y, x, n, act, ceiling); break;
    case IG_FLOOR: run(y, x, n, act, floored); break;
    case IG_ROUND: run(y, x, n, act, rounded); break;
    case IG_SIGN: run(y, x, n, act, sign); break;
    case IG_RECIPROCAL: run(y, x, n, act, reciprocal); break;
    case IG_SQRT: run(y, x, n, act, root); break;
    case IG_EXP: run_long(y, x, n, act, exponential); break;
    case IG_LOG: run_long(y, x, n, act, logarithm); break;
    case IG_ERF: run_long(y, x, n, act, error_function); break;
    case IG_ATAN: run_long(y, x, n, act, arctangent); break;
    default: ig_act_row_neon(y, x, n, act); break;
    }
}

/* All kinds. */
void unary_f32_other4__neon(const struct ig_call *call, struct ig_range range, void *scratch)
{
    (void)scratch;
    ig_unary_rows(call, range, run_other);
}
