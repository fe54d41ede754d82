/* Activations over a run of floats: one loop per kind, the formula inlined into it. */
#include "kernels_cpu/avx2/act.h"

#include "kernels_cpu/avx2/vec.h"
#include "kernels_cpu/avx2/vmath.h"

#define INLINE static inline __attribute__((always_inline))

#define DEFINE(name) INLINE __m256 name(__m256 x, __m256 a, __m256 b)
#define ONE _mm256_set1_ps(1)
#define ZERO _mm256_setzero_ps()
#define UNUSED ((void)a, (void)b)

typedef __m256 act8(__m256 x, __m256 a, __m256 b);

/* `then` where x is negative, else `otherwise`. A NaN and -0 count as not negative. */
INLINE __m256 if_negative(__m256 x, __m256 then, __m256 otherwise)
{
    return _mm256_blendv_ps(otherwise, then, _mm256_cmp_ps(x, ZERO, _CMP_LT_OQ));
}

/* e/(e+2), e = e^(2|x|) - 1, with the sign of x; 1 beyond 10. */
INLINE __m256 tanh8(__m256 x)
{
    __m256 size = ig_abs8(x);
    __m256 e = ig_expm18(ig_min8(_mm256_add_ps(size, size), 20));
    __m256 y = _mm256_div_ps(e, _mm256_add_ps(e, _mm256_set1_ps(2)));
    return _mm256_or_ps(y, _mm256_and_ps(x, _mm256_set1_ps(-0.f)));
}

DEFINE(none)
{
    UNUSED;
    return x;
}

DEFINE(relu)
{
    UNUSED;
    return ig_max8(x, 0);
}

DEFINE(clip)
{
    return _mm256_min_ps(b, _mm256_max_ps(a, x));
}

DEFINE(leaky)
{
    UNUSED;
    return if_negative(x, _mm256_mul_ps(x, a), x);
}

DEFINE(tangent)
{
    UNUSED;
    return tanh8(x);
}

DEFINE(hard_sigmoid)
{
    return ig_min8(ig_max8(_mm256_fmadd_ps(a, x, b), 0), 1);
}

DEFINE(hard_swish)
{
    UNUSED;
    __m256 six = _mm256_set1_ps(6), t = ig_min8(ig_max8(_mm256_add_ps(x, _mm256_set1_ps(3)), 0), 6);
    return _mm256_mul_ps(x, _mm256_div_ps(t, six));
}

DEFINE(elu)
{
    UNUSED;
    return if_negative(x, _mm256_mul_ps(a, ig_expm18(ig_min8(x, 0))), x);
}

DEFINE(selu)
{
    return _mm256_mul_ps(b, elu(x, a, b));
}

DEFINE(celu)
{
    UNUSED;
    return if_negative(x, _mm256_mul_ps(a, ig_expm18(ig_min8(_mm256_div_ps(x, a), 0))), x);
}

/* x t/(t+2), t = w(w+2), w = e^x; beyond 20 that is x, and w^2 stays finite. */
DEFINE(mish)
{
    UNUSED;
    __m256 two = _mm256_set1_ps(2), w = ig_exp8(ig_min8(x, 20));
    __m256 t = _mm256_mul_ps(w, _mm256_add_ps(w, two));
    return _mm256_mul_ps(x, _mm256_div_ps(t, _mm256_add_ps(t, two)));
}

DEFINE(softplus)
{
    UNUSED;
    return _mm256_add_ps(ig_max8(x, 0), ig_log1p8(ig_exp8(ig_negate8(ig_abs8(x)))));
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

INLINE void run(float *y, const float *x, int64_t n, const struct ig_act *act, act8 *f)
{
    __m256 a = _mm256_set1_ps(act->alpha), b = _mm256_set1_ps(act->beta);
    int64_t i = 0;
    for (; i + 8 <= n; i += 8) _mm256_storeu_ps(y + i, f(_mm256_loadu_ps(x + i), a, b));
    if (i < n) ig_store_part(y + i, f(ig_load_upto8(x + i, n - i), a, b), n - i);
}

/* x/(1 + e^(-kx)), or 1/(1 + e^(-kx)). */
INLINE void run_logistic(float *y, const float *x, int64_t n, float k, int times_x)
{
    struct ig_logistic8 logistic = ig_logistic8_of(-k);
    int64_t i = 0;
    for (; i + 8 <= n; i += 8) {
        __m256 v = _mm256_loadu_ps(x + i);
        _mm256_storeu_ps(y + i, _mm256_div_ps(times_x ? v : ONE, ig_logistic8(v, &logistic)));
    }
    if (i == n) return;
    __m256 v = ig_load_upto8(x + i, n - i);
    ig_store_part(y + i, _mm256_div_ps(times_x ? v : ONE, ig_logistic8(v, &logistic)), n - i);
}

static void run_swish(float *y, const float *x, int64_t n, float k)
{
    if (k == 1)
        run_logistic(y, x, n, 1, 1); /* its constants are made by the compiler: rows may be short */
    else
        run_logistic(y, x, n, k, 1);
}

void ig_act_row_avx2(float *y, const float *x, int64_t n, const struct ig_act *act)
{
    switch (act->kind) {
    case IG_NONE: run(y, x, n, act, none); break;
    case IG_RELU: run(y, x, n, act, relu); break;
    case IG_CLIP: run(y, x, n, act, clip); break;
    case IG_LEAKY_RELU: run(y, x, n, act, leaky); break;
    case IG_SIGMOID: run_logistic(y, x, n, 1, 0); break;
    case IG_TANH: run(y, x, n, act, tangent); break;
    case IG_HARD_SIGMOID: run(y, x, n, act, hard_sigmoid); break;
    case IG_HARD_SWISH: run(y, x, n, act, hard_swish); break;
    case IG_SWISH: run_swish(y, x, n, act->alpha); break;
    case IG_ELU: run(y, x, n, act, elu); break;
    case IG_MISH: run(y, x, n, act, mish); break;
    case IG_SOFTPLUS: run(y, x, n, act, softplus); break;
    case IG_SELU: run(y, x, n, act, selu); break;
    case IG_CELU: run(y, x, n, act, celu); break;
    case IG_SOFTSIGN: run(y, x, n, act, softsign); break;
    case IG_THRESHOLDED_RELU: run(y, x, n, act, thresholded); break;
    case IG_AFFINE: run(y, x, n, act, affine); break;
    case IG_ABS: run(y, x, n, act, absolute); break;
    case IG_NEG: run(y, x, n, act, negative); break;
    case IG_CEIL: run(y, x, n, act, ceiling); break;
    case IG_FLOOR: run(y, x, n, act, floored); break;
    case IG_ROUND: run(y, x, n, act, rounded); break;
    case IG_RECIPROCAL: run(y, x, n, act, reciprocal); break;
    case IG_SQRT: run(y, x, n, act, root); break;
    case IG_EXP: run(y, x, n, act, exponential); break;
    case IG_LOG: run(y, x, n, act, logarithm); break;
    default: break;
    }
}
