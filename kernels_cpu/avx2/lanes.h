/* Vectors of floats by the names that files of kernels_cpu/common/ have for every ISA. */
#ifndef KERNELS_CPU_AVX2_LANES_H
#define KERNELS_CPU_AVX2_LANES_H

#include "kernels_cpu/avx2/vec.h"
#include "kernels_cpu/avx2/vmath.h"

enum { N = 8 }; /* lanes */

#define VEC __m256
#define SPLAT(x) _mm256_set1_ps(x)
#define LOAD(p) _mm256_loadu_ps(p)
#define LOAD_UPTO(p, n) ig_load_upto8(p, n) /* lanes from n on are 0; n >= 1 */
#define STORE(p, v) _mm256_storeu_ps(p, v)
#define STORE_UPTO(p, v, n) ig_store_upto8(p, v, n)
#define ADD(a, b) _mm256_add_ps(a, b)
#define SUB(a, b) _mm256_sub_ps(a, b)
#define MUL(a, b) _mm256_mul_ps(a, b)
#define DIV(a, b) _mm256_div_ps(a, b)
#define FMA(sum, a, b) _mm256_fmadd_ps(a, b, sum)
#define SQRT(x) _mm256_sqrt_ps(x)
#define ABS(x) _mm256_andnot_ps(_mm256_set1_ps(-0.f), x)
#define ROUND(x) _mm256_round_ps(x, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC)
#define EXP(x) ig_exp8(x)
#define EXP_NEGATIVE(x) ig_exp_negative8(x) /* x <= 0; 0 where the result would be no normal number, or nearly one */
#define LOG(x) ig_log8(x)
#define POW2(n) ig_pow2i8(_mm256_cvtps_epi32(n)) /* n whole, in [-126, 127] */
#define SPLIT(x, e) ig_split8(x, e) /* x, a normal number above 0, = m 2^e: m in [sqrt 1/2, sqrt 2) */
#define MAX(a, b) ig_unless_nan8(a, _mm256_max_ps(a, b)) /* a NaN of either side stays */
#define MIN(a, b) ig_unless_nan8(a, _mm256_min_ps(a, b))
/* x in lanes below n, else y; n in 1..N. */
#define FIRST(x, y, n) _mm256_blendv_ps(y, x, _mm256_castsi256_ps(ig_mask8(n)))
#define MASK __m256
#define LESS(a, b) _mm256_cmp_ps(a, b, _CMP_LT_OQ)
#define LESS_EQUAL(a, b) _mm256_cmp_ps(a, b, _CMP_LE_OQ)
#define EQUAL(a, b) _mm256_cmp_ps(a, b, _CMP_EQ_OQ)
#define CHOOSE(m, x, y) _mm256_blendv_ps(y, x, m)
#define WHICH(m) (unsigned)_mm256_movemask_ps(m) /* bit i: lane i */
#define YES(p) ig_yes8(p)             /* of N bytes those that are not 0 */
#define STORE_YES(p, m) ig_store_yes8(p, m) /* N bytes, 0 or 1 */
#define TOTAL(x) ig_total8(x)
#define QUARTERS(a, b, c, d) ig_quarters8(a, b, c, d)
#define TOTALS(q) ig_totals8(q) /* of eight vectors, of which q[i] has QUARTERS of four */
#define GREATEST(x) ig_greatest8(x)
#define LEAST(x) ig_least8(x)

/* `of`, but a where that is no number: the instructions give b then. */
static inline __m256 ig_unless_nan8(__m256 a, __m256 of)
{
    return _mm256_blendv_ps(of, a, _mm256_cmp_ps(a, a, _CMP_UNORD_Q));
}

static inline __m256 ig_split8(__m256 x, __m256 *e)
{
    const __m256i bits = _mm256_castps_si256(x), k = _mm256_srai_epi32(_mm256_sub_epi32(bits, _mm256_set1_epi32(0x3f3504f3)), 23); /* sqrt 1/2 */
    *e = _mm256_cvtepi32_ps(k);
    return _mm256_castsi256_ps(_mm256_sub_epi32(bits, _mm256_slli_epi32(k, 23)));
}

static inline __m256 ig_yes8(const void *p)
{
    const __m128i bytes = _mm_cmpeq_epi8(_mm_loadl_epi64((const __m128i *)p), _mm_setzero_si128());
    return _mm256_castsi256_ps(_mm256_cvtepi8_epi32(_mm_andnot_si128(bytes, _mm_set1_epi8(-1))));
}

static inline void ig_store_yes8(void *p, __m256 m)
{
    const __m256i v = _mm256_castps_si256(m);
    const __m128i words = _mm_packs_epi32(_mm256_castsi256_si128(v), _mm256_extracti128_si256(v, 1));
    _mm_storel_epi64((__m128i *)p, _mm_and_si128(_mm_packs_epi16(words, words), _mm_set1_epi8(1)));
}

/* Of all lanes, in the lowest. */
#define IG_ACROSS8(v, join) \
    v = join(v, _mm256_permute2f128_ps(v, v, 1)); \
    v = join(v, _mm256_permute_ps(v, 0x4e)); \
    v = join(v, _mm256_permute_ps(v, 0xb1))

static inline float ig_greatest8(__m256 v)
{
    IG_ACROSS8(v, MAX);
    return _mm256_cvtss_f32(v);
}

static inline float ig_least8(__m256 v)
{
    IG_ACROSS8(v, MIN);
    return _mm256_cvtss_f32(v);
}

/* In every four lanes a sum of four lanes of a, b, c and d each. */
static inline __m256 ig_quarters8(__m256 a, __m256 b, __m256 c, __m256 d)
{
    const __m256 ab = _mm256_add_ps(_mm256_unpacklo_ps(a, b), _mm256_unpackhi_ps(a, b));
    const __m256 cd = _mm256_add_ps(_mm256_unpacklo_ps(c, d), _mm256_unpackhi_ps(c, d));
    return _mm256_add_ps(_mm256_shuffle_ps(ab, cd, 0x44), _mm256_shuffle_ps(ab, cd, 0xee));
}

static inline __m256 ig_totals8(const __m256 *q)
{
    return _mm256_add_ps(_mm256_permute2f128_ps(q[0], q[1], 0x20), _mm256_permute2f128_ps(q[0], q[1], 0x31));
}

static inline float ig_total8(__m256 v)
{
    __m128 x = _mm_add_ps(_mm256_castps256_ps128(v), _mm256_extractf128_ps(v, 1));
    x = _mm_add_ps(x, _mm_movehl_ps(x, x));
    return _mm_cvtss_f32(_mm_add_ss(x, _mm_shuffle_ps(x, x, 1)));
}

#endif
