/* GELU, max(x, 0) - |x| Phi(-|x|), as avx2/act_other.c. */
#include "kernels_cpu/avx512/kernels.h"
#include "kernels_cpu/avx512/vec.h"
#include "kernels_cpu/avx512/vmath.h"
#include "kernels_cpu/common/unary.h"

static inline __m512 gelu(__m512 x)
{
    const __m512 most = _mm512_set1_ps(15), z = _mm512_abs_ps(_mm512_min_ps(most, x)); /* a NaN stays: the second operand */
    return _mm512_fnmadd_ps(z, ig_normal_tail16(_mm512_min_ps(most, z)), _mm512_max_ps(_mm512_setzero_ps(), x));
}

static void run(float *y, const float *x, int64_t n, const struct ig_act *act)
{
    int64_t i = 0;
    (void)act;
    for (; i + 16 <= n; i += 16) _mm512_storeu_ps(y + i, gelu(_mm512_loadu_ps(x + i)));
    if (i < n) ig_store_part16(y + i, gelu(ig_load_part16(x + i, n - i)), n - i);
}

void unary_f32_gelu16__avx512(const struct ig_call *call, struct ig_range range, void *scratch)
{
    (void)scratch;
    ig_unary_rows(call, range, run);
}
