/* Pointwise convolution by Strassen's algorithm: the sums of pixels and of products. */
#include <immintrin.h>

#include "kernels_cpu/avx2/gemm.h"
#include "kernels_cpu/avx2/kernels.h"
#include "kernels_cpu/common/strassen.h"

enum { MR = 6, NR = 16 };

static void sums(const float *top, const float *bottom, int64_t k, float *dst, int64_t plane)
{
    for (int64_t i = 0; i < k; i += 8, dst += 8) {
        __m256 a11 = _mm256_loadu_ps(top + i), a12 = _mm256_loadu_ps(top + k + i);
        __m256 a21 = _mm256_loadu_ps(bottom + i), a22 = _mm256_loadu_ps(bottom + k + i);
        _mm256_storeu_ps(dst, _mm256_add_ps(a11, a22));
        _mm256_storeu_ps(dst + plane, _mm256_add_ps(a21, a22));
        _mm256_storeu_ps(dst + 2 * plane, _mm256_add_ps(a11, a12));
        _mm256_storeu_ps(dst + 3 * plane, _mm256_sub_ps(a21, a11));
        _mm256_storeu_ps(dst + 4 * plane, _mm256_sub_ps(a12, a22));
    }
}

struct end {
    int32_t flags;
    __m256 lo, hi;
};

/* c = clamp(x + bias + r); r may be NULL, or c. */
static inline void finish(const struct end *end, __m256 x, const float *bias, const float *r, float *c)
{
    x = _mm256_add_ps(x, _mm256_loadu_ps(bias));
    if (r) x = _mm256_add_ps(x, _mm256_loadu_ps(r));
    if (end->flags & IG_GEMM_LO) x = _mm256_max_ps(end->lo, x); /* of a NaN and a bound, x stays: the second source */
    if (end->flags & IG_GEMM_HI) x = _mm256_min_ps(end->hi, x);
    _mm256_storeu_ps(c, x);
}

static void join(const struct ig_strassen_tile *t)
{
    const struct end end = {t->flags, _mm256_set1_ps(t->lo), _mm256_set1_ps(t->hi)};
    for (int32_t row = 0; row < t->rows; row++) {
        const float *m = t->m + row * NR, *bias = t->bias;
        float *top = t->top[row] + t->channel, *bottom = t->bottom[row] + t->channel;
        const float *r_top = t->r_top ? t->r_top[row] + t->channel : NULL;
        const float *r_bottom = t->r_bottom ? t->r_bottom[row] + t->channel : NULL;
        for (int32_t v = 0; v < NR; v += 8, m += 8, bias += 8) {
            __m256 m1 = _mm256_loadu_ps(m), m2 = _mm256_loadu_ps(m + MR * NR), m3 = _mm256_loadu_ps(m + 2 * MR * NR);
            __m256 m4 = _mm256_loadu_ps(m + 3 * MR * NR), m5 = _mm256_loadu_ps(m + 4 * MR * NR);
            __m256 m6 = _mm256_loadu_ps(m + 5 * MR * NR), m7 = _mm256_loadu_ps(m + 6 * MR * NR);
            __m256 c11 = _mm256_add_ps(_mm256_sub_ps(_mm256_add_ps(m1, m4), m5), m7);
            __m256 c22 = _mm256_add_ps(_mm256_add_ps(_mm256_sub_ps(m1, m2), m3), m6);
            finish(&end, c11, bias, r_top ? r_top + v : NULL, top + v);
            finish(&end, _mm256_add_ps(m3, m5), bias + NR, r_top ? r_top + NR + v : NULL, top + NR + v);
            finish(&end, _mm256_add_ps(m2, m4), bias, r_bottom ? r_bottom + v : NULL, bottom + v);
            finish(&end, c22, bias + NR, r_bottom ? r_bottom + NR + v : NULL, bottom + NR + v);
        }
    }
}

static const struct ig_strassen_set set = {&ig_gemm_6x16_avx2, sums, join};

void conv_f32_strassen6x16__avx2(const struct ig_call *call, struct ig_range range, void *scratch)
{
    ig_strassen_conv(call, range, scratch, &set);
}
