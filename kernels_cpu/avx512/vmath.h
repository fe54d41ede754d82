/* Some of avx2/vmath.h on sixteen floats: the same formulas, with their errors. */
#ifndef KERNELS_CPU_AVX512_VMATH_H
#define KERNELS_CPU_AVX512_VMATH_H

#include <immintrin.h>

/* x <= 0: e^x as ig_exp_negative8 has it. */
static inline __m512 ig_exp_negative16(__m512 x)
{
    const __m512 round = _mm512_set1_ps(12582912.f + 127), log2e = _mm512_set1_ps(1.44269502f);
    const __mmask16 there = _mm512_cmp_ps_mask(x, _mm512_set1_ps(-87), _CMP_NLT_UQ); /* or a NaN */
    const __m512 n = _mm512_fmadd_ps(x, log2e, round);
    const __m512 scale = _mm512_castsi512_ps(_mm512_slli_epi32(_mm512_castps_si512(n), 23));
    __m512 r = _mm512_fmsub_ps(x, log2e, _mm512_sub_ps(n, round));
    r = _mm512_fmadd_ps(x, _mm512_set1_ps(1.92596303e-8f), r);
    __m512 p = _mm512_set1_ps(0.001326472731307149f);
    p = _mm512_fmadd_ps(p, r, _mm512_set1_ps(0.009671512991189957f));
    p = _mm512_fmadd_ps(p, r, _mm512_set1_ps(0.05550733581185341f));
    p = _mm512_fmadd_ps(p, r, _mm512_set1_ps(0.24022242426872253f));
    p = _mm512_fmadd_ps(p, r, _mm512_set1_ps(0.6931470036506653f));
    return _mm512_maskz_mul_ps(there, _mm512_fmadd_ps(p, r, _mm512_set1_ps(1)), scale);
}

/* The normal distribution's part below -z, as ig_normal_tail8 has it; z in [0, 15]. */
static inline __m512 ig_normal_tail16(__m512 z)
{
    __m512 square = _mm512_mul_ps(z, z), rest = _mm512_fmsub_ps(z, z, square), half = _mm512_set1_ps(0.5f);
    __m512 e = ig_exp_negative16(_mm512_mul_ps(square, _mm512_set1_ps(-0.5f)));
    __m512 p = _mm512_set1_ps(0.00415321859f), r = _mm512_set1_ps(0.0104104634f);
    e = _mm512_fnmadd_ps(_mm512_mul_ps(e, half), rest, e);
    p = _mm512_fmadd_ps(p, z, _mm512_set1_ps(0.0408810489f));
    p = _mm512_fmadd_ps(p, z, _mm512_set1_ps(0.183968902f));
    p = _mm512_fmadd_ps(p, z, _mm512_set1_ps(0.439283103f));
    p = _mm512_fmadd_ps(p, z, half);
    r = _mm512_fmadd_ps(r, z, _mm512_set1_ps(0.102479711f));
    r = _mm512_fmadd_ps(r, z, _mm512_set1_ps(0.471408069f));
    r = _mm512_fmadd_ps(r, z, _mm512_set1_ps(1.20554721f));
    r = _mm512_fmadd_ps(r, z, _mm512_set1_ps(1.67645121f));
    r = _mm512_fmadd_ps(r, z, _mm512_set1_ps(1));
    return _mm512_div_ps(_mm512_mul_ps(e, p), r);
}

#endif
