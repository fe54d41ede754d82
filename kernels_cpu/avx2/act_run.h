/* What the files of activations share: how a formula is written, and the loops over a run of floats. */
#ifndef KERNELS_CPU_AVX2_ACT_RUN_H
#define KERNELS_CPU_AVX2_ACT_RUN_H

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

/* y >= 0, with the sign of x. */
INLINE __m256 with_sign(__m256 y, __m256 x)
{
    return _mm256_or_ps(y, _mm256_and_ps(x, _mm256_set1_ps(-0.f)));
}

DEFINE(elu)
{
    UNUSED;
    return if_negative(x, _mm256_mul_ps(a, ig_expm18(ig_min8(x, 0))), x);
}

struct runs {                /* n floats of each of `pixels` pixels */
    float *y;
    const float *x;
    int64_t y_step, x_step;  /* floats */
    int32_t pixels;
    int64_t n;
};

INLINE void run(struct runs r, const struct ig_act *act, act8 *f)
{
    __m256 a = _mm256_set1_ps(act->alpha), b = _mm256_set1_ps(act->beta);
    for (; r.pixels > 0; r.pixels--, r.y += r.y_step, r.x += r.x_step) {
        int64_t i = 0;
        for (; i + 8 <= r.n; i += 8) _mm256_storeu_ps(r.y + i, f(_mm256_loadu_ps(r.x + i), a, b));
        if (i < r.n) ig_store_part(r.y + i, f(ig_load_upto8(r.x + i, r.n - i), a, b), r.n - i);
    }
}

/* The same for long formulas: they stand in the code once, rests included. */
INLINE void run_long(struct runs r, const struct ig_act *act, act8 *f)
{
    __m256 a = _mm256_set1_ps(act->alpha), b = _mm256_set1_ps(act->beta);
    for (; r.pixels > 0; r.pixels--, r.y += r.y_step, r.x += r.x_step)
        for (int64_t i = 0; i < r.n; i += 8)
            ig_store_upto8(r.y + i, f(ig_load_upto8(r.x + i, r.n - i), a, b), r.n - i);
}

#endif
