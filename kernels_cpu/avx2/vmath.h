/*
 * exp, expm1, log, log1p, erf, the normal distribution and atan on eight floats, without libm.
 *
 * exp:   x = n ln 2 + r, |r| <= ln 2 / 2;  e^r = 1 + q, q = r + r^2 P(r), P of degree 4, minimax relative
 *        to e^r (2^-28). The scale 2^n is applied in two halves, so that results round to denormals,
 *        zero and infinity as they should.
 * expm1: 2^n q + (2^n - 1): no cancellation near 0.
 * 1 + e^(kx): 2^n 2^r with n + r = kx log2 e, |r| <= 1/2; 2^r of degree 5, exact at 0, minimax relative (2^-23.4).
 *        n is rounded by adding 1.5 2^23, whose low bits are then n and a shift away from 2^n.
 * log:   2 atanh(s) = 2 s + 2 s t P(t), t = s^2 <= 1/9, P of degree 3, minimax (2^-27).
 * Phi(-z): e^(-z^2/2) P(z)/R(z), of degrees 4 and 5, minimax relative on [0, 15] (2^-27; all coefficients are positive; as floats
 *        2^-25.3). The rounding of z^2, which e^ would multiply, is added to the result.
 * erf:   z + z P(z^2), P of degree 5, up to 15/16 (2^-25.7), then 1 - e^(-P(z)), P of degree 5, up to 4 (2^-25.2): minimax, relative.
 * atan:  s P(s^2), P of degree 8, minimax relative on [0, 1] (2^-26), of 1/z where z > 1.
 * The last three are fitted by the Remez algorithm in 40 digits.
 *
 * Errors of the last three against a double result, of all floats: erf and atan 2 ulp, x Phi(x) 5 where x > -1, 9 down to -5, 12 down to -13.
 */
#ifndef KERNELS_CPU_AVX2_VMATH_H
#define KERNELS_CPU_AVX2_VMATH_H

#include <immintrin.h>

/* max and min that keep a NaN in x: the instruction returns its second operand. */
static inline __m256 ig_max8(__m256 x, float bound)
{
    return _mm256_max_ps(_mm256_set1_ps(bound), x);
}

static inline __m256 ig_min8(__m256 x, float bound)
{
    return _mm256_min_ps(_mm256_set1_ps(bound), x);
}

static inline __m256 ig_negate8(__m256 x)
{
    return _mm256_xor_ps(x, _mm256_set1_ps(-0.f));
}

static inline __m256 ig_abs8(__m256 x)
{
    return _mm256_andnot_ps(_mm256_set1_ps(-0.f), x);
}

/* 2^n; n in [-126, 127]. */
static inline __m256 ig_pow2i8(__m256i n)
{
    return _mm256_castsi256_ps(_mm256_slli_epi32(_mm256_add_epi32(n, _mm256_set1_epi32(127)), 23));
}

/* 2^r; |r| <= 1/2. */
static inline __m256 ig_pow2_part8(__m256 r)
{
    __m256 p = _mm256_set1_ps(0.001326472731307149f);
    p = _mm256_fmadd_ps(p, r, _mm256_set1_ps(0.009671512991189957f));
    p = _mm256_fmadd_ps(p, r, _mm256_set1_ps(0.05550733581185341f));
    p = _mm256_fmadd_ps(p, r, _mm256_set1_ps(0.24022242426872253f));
    p = _mm256_fmadd_ps(p, r, _mm256_set1_ps(0.6931470036506653f));
    return _mm256_fmadd_ps(p, r, _mm256_set1_ps(1));
}

/* q = e^r - 1 where x = n ln 2 + r; *n as integers. A NaN gives q = NaN. */
static inline __m256 ig_exp_reduce8(__m256 x, __m256i *n)
{
    __m256 k = _mm256_round_ps(_mm256_mul_ps(x, _mm256_set1_ps(1.44269504f)),
                               _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
    __m256 r = _mm256_fnmadd_ps(k, _mm256_set1_ps(0.693145752f), x); /* ln 2, upper 15 bits: k times it is exact */
    r = _mm256_fnmadd_ps(k, _mm256_set1_ps(1.42860677e-6f), r);      /* and the rest */
    __m256 p = _mm256_set1_ps(0.00138131448f);
    p = _mm256_fmadd_ps(p, r, _mm256_set1_ps(0.00836941879f));
    p = _mm256_fmadd_ps(p, r, _mm256_set1_ps(0.041668456f));
    p = _mm256_fmadd_ps(p, r, _mm256_set1_ps(0.166665152f));
    p = _mm256_fmadd_ps(p, r, _mm256_set1_ps(0.49999994f));
    *n = _mm256_cvtps_epi32(k);
    return _mm256_fmadd_ps(_mm256_mul_ps(r, r), p, r);
}

static inline __m256 ig_exp8(__m256 x)
{
    __m256i n;
    x = ig_min8(ig_max8(x, -110), 90); /* beyond: 0 and inf */
    __m256 y = _mm256_add_ps(_mm256_set1_ps(1), ig_exp_reduce8(x, &n));
    __m256i half = _mm256_srai_epi32(n, 1);
    return _mm256_mul_ps(_mm256_mul_ps(y, ig_pow2i8(half)), ig_pow2i8(_mm256_sub_epi32(n, half)));
}

/* x <= 0; 0 below -87, where the result would be no normal number. As 1 + e^(kx), with half the work of ig_exp8. */
static inline __m256 ig_exp_negative8(__m256 x)
{
    const __m256 round = _mm256_set1_ps(12582912.f + 127), log2e = _mm256_set1_ps(1.44269502f);
    __m256 there = _mm256_cmp_ps(x, _mm256_set1_ps(-87), _CMP_NLT_UQ); /* or a NaN */
    __m256 n = _mm256_fmadd_ps(x, log2e, round);
    __m256 scale = _mm256_castsi256_ps(_mm256_slli_epi32(_mm256_castps_si256(n), 23));
    __m256 r = _mm256_fmsub_ps(x, log2e, _mm256_sub_ps(n, round));
    r = _mm256_fmadd_ps(x, _mm256_set1_ps(1.92596303e-8f), r);
    return _mm256_and_ps(_mm256_mul_ps(ig_pow2_part8(r), scale), there);
}

/* The normal distribution's part below -z; z in [0, 15]: 0 beyond 13.2, where the exponential would be no normal number. */
static inline __m256 ig_normal_tail8(__m256 z)
{
    __m256 square = _mm256_mul_ps(z, z), rest = _mm256_fmsub_ps(z, z, square), half = _mm256_set1_ps(0.5f);
    __m256 e = ig_exp_negative8(_mm256_mul_ps(square, _mm256_set1_ps(-0.5f)));
    __m256 p = _mm256_set1_ps(0.00415321859f), r = _mm256_set1_ps(0.0104104634f);
    e = _mm256_fnmadd_ps(_mm256_mul_ps(e, half), rest, e);
    p = _mm256_fmadd_ps(p, z, _mm256_set1_ps(0.0408810489f));
    p = _mm256_fmadd_ps(p, z, _mm256_set1_ps(0.183968902f));
    p = _mm256_fmadd_ps(p, z, _mm256_set1_ps(0.439283103f));
    p = _mm256_fmadd_ps(p, z, half);
    r = _mm256_fmadd_ps(r, z, _mm256_set1_ps(0.102479711f));
    r = _mm256_fmadd_ps(r, z, _mm256_set1_ps(0.471408069f));
    r = _mm256_fmadd_ps(r, z, _mm256_set1_ps(1.20554721f));
    r = _mm256_fmadd_ps(r, z, _mm256_set1_ps(1.67645121f));
    r = _mm256_fmadd_ps(r, z, _mm256_set1_ps(1));
    return _mm256_div_ps(_mm256_mul_ps(e, p), r);
}

/* erf(z); z in [0, 4]. */
static inline __m256 ig_erf8(__m256 z)
{
    __m256 t = _mm256_mul_ps(z, z), p = _mm256_set1_ps(-0.000591942051f), q = _mm256_set1_ps(-0.00122168066f);
    p = _mm256_fmadd_ps(p, t, _mm256_set1_ps(0.00497913081f));
    p = _mm256_fmadd_ps(p, t, _mm256_set1_ps(-0.0267570354f));
    p = _mm256_fmadd_ps(p, t, _mm256_set1_ps(0.112815522f));
    p = _mm256_fmadd_ps(p, t, _mm256_set1_ps(-0.37612468f));
    p = _mm256_fmadd_ps(p, t, _mm256_set1_ps(0.128379151f));
    q = _mm256_fmadd_ps(q, z, _mm256_set1_ps(0.0153448358f));
    q = _mm256_fmadd_ps(q, z, _mm256_set1_ps(-0.0903935507f));
    q = _mm256_fmadd_ps(q, z, _mm256_set1_ps(-0.651821434f));
    q = _mm256_fmadd_ps(q, z, _mm256_set1_ps(-1.11941564f));
    q = _mm256_fmadd_ps(q, z, _mm256_set1_ps(-0.00209790422f));
    q = _mm256_sub_ps(_mm256_set1_ps(1), ig_exp_negative8(q));
    return _mm256_blendv_ps(q, _mm256_fmadd_ps(z, p, z), _mm256_cmp_ps(z, _mm256_set1_ps(0.9375f), _CMP_LT_OQ));
}

/* atan(z); z >= 0. */
static inline __m256 ig_atan8(__m256 z)
{
    __m256 s = _mm256_div_ps(ig_min8(z, 1), ig_max8(z, 1)), t = _mm256_mul_ps(s, s), p = _mm256_set1_ps(0.00284990668f);
    p = _mm256_fmadd_ps(p, t, _mm256_set1_ps(-0.0160686951f));
    p = _mm256_fmadd_ps(p, t, _mm256_set1_ps(0.0426916257f));
    p = _mm256_fmadd_ps(p, t, _mm256_set1_ps(-0.0750430301f));
    p = _mm256_fmadd_ps(p, t, _mm256_set1_ps(0.106409378f));
    p = _mm256_fmadd_ps(p, t, _mm256_set1_ps(-0.142036453f));
    p = _mm256_fmadd_ps(p, t, _mm256_set1_ps(0.199926198f));
    p = _mm256_fmadd_ps(p, t, _mm256_set1_ps(-0.333330721f));
    p = _mm256_fmadd_ps(_mm256_mul_ps(s, t), p, s);
    __m256 turned = _mm256_sub_ps(_mm256_set1_ps(1.57079633f), p); /* pi/2 */
    return _mm256_blendv_ps(p, turned, _mm256_cmp_ps(z, _mm256_set1_ps(1), _CMP_GT_OQ));
}

/* x <= 60: what its callers need; -1 from about -17 on down. */
static inline __m256 ig_expm18(__m256 x)
{
    __m256i n;
    x = ig_max8(x, -60);
    __m256 q = ig_exp_reduce8(x, &n), s = ig_pow2i8(n);
    return _mm256_fmadd_ps(s, q, _mm256_sub_ps(s, _mm256_set1_ps(1)));
}

struct ig_logistic8 {        /* what 1 + e^(kx) needs of k */
    __m256 log2e, rest;      /* k log2 e in two parts */
    __m256 low, high;        /* x beyond gives 1 or inf */
};

static inline struct ig_logistic8 ig_logistic8_of(float k)
{
    double exact = (double)k * 1.4426950408889634;
    float log2e = (float)exact, most = 3.4e38f, inf = most, one = -most;
    if (log2e > 3e-37f || log2e < -3e-37f) {
        inf = 128 / log2e;
        one = -127 / log2e;
    }
    return (struct ig_logistic8){_mm256_set1_ps(log2e), _mm256_set1_ps((float)(exact - (double)log2e)),
                                 _mm256_set1_ps(inf < one ? inf : one), _mm256_set1_ps(inf < one ? one : inf)};
}

/* 1 + e^(kx). */
static inline __m256 ig_logistic8(__m256 x, const struct ig_logistic8 *k)
{
    const __m256 round = _mm256_set1_ps(12582912.f + 127);
    x = _mm256_min_ps(k->high, _mm256_max_ps(k->low, x)); /* a NaN stays */
    __m256 n = _mm256_fmadd_ps(x, k->log2e, round);
    __m256 scale = _mm256_castsi256_ps(_mm256_slli_epi32(_mm256_castps_si256(n), 23));
    __m256 r = _mm256_fmsub_ps(x, k->log2e, _mm256_sub_ps(n, round));
    r = _mm256_fmadd_ps(x, k->rest, r);
    return _mm256_fmadd_ps(ig_pow2_part8(r), scale, _mm256_set1_ps(1));
}

/* ln((1+s)/(1-s)); |s| <= 1/3. */
static inline __m256 ig_log_ratio8(__m256 s)
{
    __m256 t = _mm256_mul_ps(s, s), p = _mm256_set1_ps(0.140137896f);
    p = _mm256_fmadd_ps(p, t, _mm256_set1_ps(0.139993563f));
    p = _mm256_fmadd_ps(p, t, _mm256_set1_ps(0.200108543f));
    p = _mm256_fmadd_ps(p, t, _mm256_set1_ps(0.333332062f));
    s = _mm256_add_ps(s, s);
    return _mm256_fmadd_ps(_mm256_mul_ps(s, t), p, s);
}

/* ln(1 + x); x in [0, 1]. */
static inline __m256 ig_log1p8(__m256 x)
{
    return ig_log_ratio8(_mm256_div_ps(x, _mm256_add_ps(x, _mm256_set1_ps(2))));
}

/* ln(x): x = m 2^e, m in [sqrt 1/2, sqrt 2). Zero gives -inf, x < 0 and NaN give NaN. */
static inline __m256 ig_log8(__m256 x)
{
    __m256 tiny = _mm256_cmp_ps(x, _mm256_set1_ps(1.17549435e-38f), _CMP_LT_OQ);
    __m256 big = _mm256_blendv_ps(x, _mm256_mul_ps(x, _mm256_set1_ps(8388608.f)), tiny);
    __m256i bits = _mm256_castps_si256(big);
    __m256i e = _mm256_srai_epi32(_mm256_sub_epi32(bits, _mm256_set1_epi32(0x3f3504f3)), 23); /* sqrt 1/2 */
    __m256 m = _mm256_castsi256_ps(_mm256_sub_epi32(bits, _mm256_slli_epi32(e, 23)));
    e = _mm256_add_epi32(e, _mm256_and_si256(_mm256_castps_si256(tiny), _mm256_set1_epi32(-23)));
    __m256 one = _mm256_set1_ps(1), k = _mm256_cvtepi32_ps(e), zero = _mm256_setzero_ps();
    __m256 y = ig_log_ratio8(_mm256_div_ps(_mm256_sub_ps(m, one), _mm256_add_ps(m, one)));
    y = _mm256_fmadd_ps(k, _mm256_set1_ps(1.42860677e-6f), y);
    y = _mm256_fmadd_ps(k, _mm256_set1_ps(0.693145752f), y);
    __m256 inf = _mm256_set1_ps(__builtin_inff());
    y = _mm256_blendv_ps(y, x, _mm256_cmp_ps(x, inf, _CMP_EQ_OQ));
    y = _mm256_blendv_ps(y, ig_negate8(inf), _mm256_cmp_ps(x, zero, _CMP_EQ_OQ));
    return _mm256_blendv_ps(_mm256_set1_ps(__builtin_nanf("")), y, _mm256_cmp_ps(x, zero, _CMP_GE_OQ));
}

#endif
