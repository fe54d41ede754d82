/* GELU, max(x, 0) - |x| Phi(-|x|), as avx2/act.c; other activations are that file's. */
#include "kernels_cpu/avx512/act.h"

#include "kernels_cpu/avx512/kernels.h"
#include "kernels_cpu/avx512/vec.h"
#include "kernels_cpu/avx512/vmath.h"
#include "kernels_cpu/common/unary.h"

static inline __m512 gelu(__m512 x)
{
    const __m512 most = _mm512_set1_ps(15), z = _mm512_abs_ps(_mm512_min_ps(most, x)); /* a NaN stays: the second operand */
    return _mm512_fnmadd_ps(z, ig_normal_tail16(_mm512_min_ps(most, z)), _mm512_max_ps(_mm512_setzero_ps(), x));
}

static void run(float *y, const float *x, int64_t n)
{
    int64_t i = 0;
    for (; i + 16 <= n; i += 16) _mm512_storeu_ps(y + i, gelu(_mm512_loadu_ps(x + i)));
    if (i < n) ig_store_part16(y + i, gelu(ig_load_part16(x + i, n - i)), n - i);
}

void ig_act_pixels_avx512(float *y, int64_t y_step, const float *x, int64_t x_step, int32_t pixels, int64_t n, const struct ig_act *act)
{
    if (act->kind == IG_GELU)
        for (; pixels > 0; pixels--, y += y_step, x += x_step) run(y, x, n);
    else
        ig_act_pixels_avx2(y, y_step, x, x_step, pixels, n, act);
}

void ig_act_row_avx512(float *y, const float *x, int64_t n, const struct ig_act *act)
{
    ig_act_pixels_avx512(y, 0, x, 0, 1, n, act);
}

void unary_f32_gelu16__avx512(const struct ig_call *call, struct ig_range range, void *scratch)
{
    (void)scratch;
    ig_unary_rows(call, range, ig_act_row_avx512);
}
