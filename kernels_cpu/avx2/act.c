/* Activations that are part of epilogues, over a run of floats: one loop per kind, the formula inlined into it. */
#include "kernels_cpu/avx2/act_run.h"

/* e/(e+2), e = e^(2|x|) - 1, with the sign of x; 1 beyond 10. */
INLINE __m256 tanh8(__m256 x)
{
    __m256 size = ig_abs8(x);
    __m256 e = ig_expm18(ig_min8(_mm256_add_ps(size, size), 20));
    return with_sign(_mm256_div_ps(e, _mm256_add_ps(e, _mm256_set1_ps(2))), x);
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
    __m256 t = ig_min8(ig_max8(_mm256_add_ps(x, _mm256_set1_ps(3)), 0), 6);
    return _mm256_mul_ps(x, _mm256_mul_ps(t, _mm256_set1_ps(1 / 6.f)));
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

/* max(x, 0) - |x| Phi(-|x|); the part of what is below -15 is 0, so that -inf gives NaN, as in the reference. */
DEFINE(gelu)
{
    UNUSED;
    __m256 z = ig_abs8(ig_min8(x, 15));
    return _mm256_fnmadd_ps(z, ig_normal_tail8(ig_min8(z, 15)), ig_max8(x, 0));
}

/* x/(1 + e^(-2u)), u = sqrt(2/pi) (x + 0.044715 x^3). Within 3 |2u| + 3 ulp, as 2u is rounded. */
DEFINE(gelu_tangent)
{
    UNUSED;
    struct ig_logistic8 logistic = ig_logistic8_of(-1);
    __m256 u = _mm256_fmadd_ps(_mm256_mul_ps(x, x), _mm256_set1_ps(0.0713548163f), _mm256_set1_ps(1.59576912f));
    return _mm256_div_ps(x, ig_logistic8(_mm256_mul_ps(u, x), &logistic));
}

/* x/(1 + e^(-kx)), or 1/(1 + e^(-kx)). */
INLINE void run_logistic(struct runs r, float k, int times_x)
{
    struct ig_logistic8 logistic = ig_logistic8_of(-k);
    for (; r.pixels > 0; r.pixels--, r.y += r.y_step, r.x += r.x_step) {
        int64_t i = 0;
        for (; i + 8 <= r.n; i += 8) {
            __m256 v = _mm256_loadu_ps(r.x + i);
            _mm256_storeu_ps(r.y + i, _mm256_div_ps(times_x ? v : ONE, ig_logistic8(v, &logistic)));
        }
        if (i == r.n) continue;
        __m256 v = ig_load_upto8(r.x + i, r.n - i);
        ig_store_part(r.y + i, _mm256_div_ps(times_x ? v : ONE, ig_logistic8(v, &logistic)), r.n - i);
    }
}

static void run_swish(struct runs r, float k)
{
    if (k == 1)
        run_logistic(r, 1, 1); /* its constants are made by the compiler: runs may be short */
    else
        run_logistic(r, k, 1);
}

void ig_act_pixels_avx2(float *y, int64_t y_step, const float *x, int64_t x_step, int32_t pixels, int64_t n,
                        const struct ig_act *act)
{
    struct runs r = {y, x, y_step, x_step, pixels, n};
    switch (act->kind) {
    case IG_NONE: run(r, act, none); break;
    case IG_RELU: run(r, act, relu); break;
    case IG_CLIP: run(r, act, clip); break;
    case IG_LEAKY_RELU: run(r, act, leaky); break;
    case IG_SIGMOID: run_logistic(r, 1, 0); break;
    case IG_TANH: run_long(r, act, tangent); break;
    case IG_HARD_SIGMOID: run(r, act, hard_sigmoid); break;
    case IG_HARD_SWISH: run(r, act, hard_swish); break;
    case IG_SWISH: run_swish(r, act->alpha); break;
    case IG_ELU: run_long(r, act, elu); break;
    case IG_MISH: run_long(r, act, mish); break;
    case IG_SOFTPLUS: run_long(r, act, softplus); break;
    case IG_GELU: run_long(r, act, gelu); break;
    case IG_GELU_TANH: run_long(r, act, gelu_tangent); break;
    default: break;
    }
}

void ig_act_row_avx2(float *y, const float *x, int64_t n, const struct ig_act *act)
{
    ig_act_pixels_avx2(y, 0, x, 0, 1, n, act);
}
