/*
 * Local response normalisation across channels, kernels_cpu/ref/lrn.c: a pixel's squares stand between zeros in scratch, so that a window's sum
 * is of `size` vectors a channel apart. v^(3/4) is sqrt(v) sqrt(sqrt(v)), other powers are e^(beta ln v).
 */
#include <string.h>

#include "kernels_cpu/avx2/kernels.h"
#include "kernels_cpu/avx2/vec.h"
#include "kernels_cpu/avx2/vmath.h"

#define INLINE static inline __attribute__((always_inline))

/* squares[i] of channel c0 - before + i, to c1 + after. */
static void square(const float *x, int32_t n, int32_t first, int32_t end, float *squares)
{
    const int32_t c0 = first < 0 ? 0 : first, c1 = end < n ? end : n;
    memset(squares, 0, (size_t)(end - first) * sizeof *squares);
    squares -= first;
    for (int32_t c = c0; c < c1; c += 8) {
        const __m256 v = ig_load_upto8(x + c, c1 - c);
        ig_store_upto8(squares + c, _mm256_mul_ps(v, v), c1 - c);
    }
}

INLINE __m256 divided(__m256 x, __m256 v, float beta)
{
    const __m256 root = _mm256_sqrt_ps(v);
    if (beta == 0.75f) return _mm256_div_ps(x, _mm256_mul_ps(root, _mm256_sqrt_ps(root)));
    if (beta == 0.5f) return _mm256_div_ps(x, root);
    return _mm256_mul_ps(x, ig_exp8(_mm256_mul_ps(_mm256_set1_ps(-beta), ig_log8(v))));
}

static void normalise(const float *x, float *y, int32_t n, const float *squares, const struct ig_lrn *a)
{
    const __m256 bias = _mm256_set1_ps(a->bias), alpha = _mm256_set1_ps(a->alpha / (float)a->size);
    for (int32_t c = 0; c < n; c += 8) {
        __m256 sum = _mm256_loadu_ps(squares + c);
        for (int32_t i = 1; i < a->size; i++) sum = _mm256_add_ps(sum, _mm256_loadu_ps(squares + c + i));
        ig_store_upto8(y + c, divided(ig_load_upto8(x + c, n - c), _mm256_fmadd_ps(alpha, sum, bias), a->beta), n - c);
    }
}

void lrn_f32_8__avx2(const struct ig_call *call, struct ig_range range, void *scratch)
{
    const struct ig_operand *in = &call->in[0], *out = &call->out[0];
    const struct ig_lrn *a = (const struct ig_lrn *)call->attrs;
    const int32_t before = (a->size - 1) / 2, first = range.c0 - before, end = range.c1 + a->size - 1 - before;
    for (int32_t y = range.y0; y < range.y1; y++)
        for (int32_t x = 0; x < out->w; x++) {
            const float *from = ig_row_f32(in, y) + x * in->pixel_stride;
            square(from, in->c, first, end, (float *)scratch);
            normalise(from + range.c0, ig_row_f32(out, y) + x * out->pixel_stride + range.c0, range.c1 - range.c0, (const float *)scratch, a);
        }
}
