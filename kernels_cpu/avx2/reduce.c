/* Reductions of floats over neighbouring dims, common/reduce.inc. */
#include "kernels_cpu/avx2/kernels.h"
#include "kernels_cpu/avx2/vec.h"

/* `of`, but a where that is no number: the instructions give b then. */
static inline __m256 unless_nan(__m256 a, __m256 of)
{
    return _mm256_blendv_ps(of, a, _mm256_cmp_ps(a, a, _CMP_UNORD_Q));
}

enum { N = 8 };

#define VEC __m256
#define SPLAT(x) _mm256_set1_ps(x)
#define LOAD(p) _mm256_loadu_ps(p)
#define LOAD_PART(p, n) ig_load_upto8(p, n)
#define STORE(p, v) _mm256_storeu_ps(p, v)
#define ADD(a, b) _mm256_add_ps(a, b)
#define FMA(sum, a, b) _mm256_fmadd_ps(a, b, sum)
#define ABS(x) _mm256_andnot_ps(_mm256_set1_ps(-0.f), x)
#define MAX(a, b) unless_nan(a, _mm256_max_ps(a, b))
#define MIN(a, b) unless_nan(a, _mm256_min_ps(a, b))
#include "kernels_cpu/common/reduce.inc"

void reduce_f32_8__avx2(const struct ig_call *call, struct ig_range range, void *scratch)
{
    (void)range, (void)scratch;
    reduce_any(call);
}
