/* The element-wise functions that are no part of an epilogue, over a run of floats: as act.c, which programs carry that have none of these. */
#include "kernels_cpu/avx2/act_run.h"
#include "kernels_cpu/avx2/kernels.h"
#include "kernels_cpu/common/unary.h"

DEFINE(selu)
{
    return _mm256_mul_ps(b, elu(x, a, b));
}

DEFINE(celu)
{
    UNUSED;
    return if_negative(x, _mm256_mul_ps(a, ig_expm18(ig_min8(_mm256_div_ps(x, a), 0))), x);
}

DEFINE(softsign)
{
    UNUSED;
    return _mm256_div_ps(x, _mm256_add_ps(ONE, ig_abs8(x)));
}

DEFINE(thresholded)
{
    UNUSED;
    return _mm256_and_ps(x, _mm256_cmp_ps(x, a, _CMP_GT_OQ));
}

DEFINE(shrink)
{
    __m256 below = _mm256_cmp_ps(x, ig_negate8(a), _CMP_LT_OQ), above = _mm256_cmp_ps(x, a, _CMP_GT_OQ);
    __m256 y = _mm256_blendv_ps(_mm256_sub_ps(x, b), _mm256_add_ps(x, b), below);
    return _mm256_and_ps(y, _mm256_or_ps(below, above));
}

DEFINE(affine)
{
    return _mm256_fmadd_ps(a, x, b);
}

DEFINE(absolute)
{
    UNUSED;
    return ig_abs8(x);
}

DEFINE(negative)
{
    UNUSED;
    return ig_negate8(x);
}

DEFINE(ceiling)
{
    UNUSED;
    return _mm256_round_ps(x, _MM_FROUND_TO_POS_INF | _MM_FROUND_NO_EXC);
}

DEFINE(floored)
{
    UNUSED;
    return _mm256_round_ps(x, _MM_FROUND_TO_NEG_INF | _MM_FROUND_NO_EXC);
}

DEFINE(rounded)
{
    UNUSED;
    return _mm256_round_ps(x, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
}

/* 0 and NaN stay. */
DEFINE(sign)
{
    UNUSED;
    return _mm256_blendv_ps(x, with_sign(ONE, x), _mm256_cmp_ps(x, ZERO, _CMP_NEQ_OQ));
}

DEFINE(reciprocal)
{
    UNUSED;
    return _mm256_div_ps(ONE, x);
}

DEFINE(root)
{
    UNUSED;
    return _mm256_sqrt_ps(x);
}

DEFINE(exponential)
{
    UNUSED;
    return ig_exp8(x);
}

DEFINE(logarithm)
{
    UNUSED;
    return ig_log8(x);
}

DEFINE(error_function)
{
    UNUSED;
    return with_sign(ig_erf8(ig_min8(ig_abs8(x), 4)), x);
}

DEFINE(arctangent)
{
    UNUSED;
    return with_sign(ig_atan8(ig_abs8(x)), x);
}

static void run_other(float *y, const float *x, int64_t n, const struct ig_act *act)
{
    struct runs r = {y, x, 0, 0, 1, n};
    switch (act->kind) {
    case IG_SELU: run_long(r, act, selu); break;
    case IG_CELU: run_long(r, act, celu); break;
    case IG_SOFTSIGN: run(r, act, softsign); break;
    case IG_THRESHOLDED_RELU: run(r, act, thresholded); break;
    case IG_SHRINK: run(r, act, shrink); break;
    case IG_AFFINE: run(r, act, affine); break;
    case IG_ABS: run(r, act, absolute); break;
    case IG_NEG: run(r, act, negative); break;
    case IG_CEIL: run(r, act, ceiling); break;
    case IG_FLOOR: run(r, act, floored); break;
    case IG_ROUND: run(r, act, rounded); break;
    case IG_SIGN: run(r, act, sign); break;
    case IG_RECIPROCAL: run(r, act, reciprocal); break;
    case IG_SQRT: run(r, act, root); break;
    case IG_EXP: run_long(r, act, exponential); break;
    case IG_LOG: run_long(r, act, logarithm); break;
    case IG_ERF: run_long(r, act, error_function); break;
    case IG_ATAN: run_long(r, act, arctangent); break;
    default: ig_act_row_avx2(y, x, n, act); break;
    }
}

/* All kinds. */
void unary_f32_other8__avx2(const struct ig_call *call, struct ig_range range, void *scratch)
{
    (void)scratch;
    ig_unary_rows(call, range, run_other);
}
