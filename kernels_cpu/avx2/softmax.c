/*
 * Softmax over the channels of a pixel: maximum, then e^(x - max) into the output and its sum, then times 1 / sum.
 * Log: x - max - ln sum, without storing the exponentials. The output may be the input.
 */
#include "kernels_cpu/avx2/kernels.h"
#include "kernels_cpu/avx2/vec.h"
#include "kernels_cpu/avx2/vmath.h"

static float max_of(__m256 v)
{
    __m128 x = _mm_max_ps(_mm256_castps256_ps128(v), _mm256_extractf128_ps(v, 1));
    x = _mm_max_ps(x, _mm_movehl_ps(x, x));
    return _mm_cvtss_f32(_mm_max_ss(x, _mm_shuffle_ps(x, x, 1)));
}

static float sum_of(__m256 v)
{
    __m128 x = _mm_add_ps(_mm256_castps256_ps128(v), _mm256_extractf128_ps(v, 1));
    x = _mm_add_ps(x, _mm_movehl_ps(x, x));
    return _mm_cvtss_f32(_mm_add_ss(x, _mm_shuffle_ps(x, x, 1)));
}

/* Elements i .. i+7 of n, the ones past the end as -inf. */
static inline __m256 load_or_least(const float *x, int32_t i, int32_t n)
{
    __m256 least = _mm256_set1_ps(-__builtin_inff());
    if (n - i >= 8) return _mm256_loadu_ps(x + i);
    return _mm256_blendv_ps(least, ig_load_upto8(x + i, n - i), _mm256_castsi256_ps(ig_mask8(n - i)));
}

static inline __m256 largest(const float *x, int32_t n)
{
    __m256 max[4];
    int32_t i = 0;
    for (int k = 0; k < 4; k++) max[k] = _mm256_set1_ps(-__builtin_inff());
    for (; i + 32 <= n; i += 32)
        for (int k = 0; k < 4; k++) max[k] = _mm256_max_ps(max[k], _mm256_loadu_ps(x + i + 8 * k));
    for (; i < n; i += 8) max[0] = _mm256_max_ps(max[0], load_or_least(x, i, n));
    return _mm256_set1_ps(max_of(_mm256_max_ps(_mm256_max_ps(max[0], max[1]), _mm256_max_ps(max[2], max[3]))));
}

static void softmax(const float *x, float *y, int32_t n)
{
    __m256 max = largest(x, n), sum = _mm256_setzero_ps();
    int32_t i = 0;
    for (; i + 8 <= n; i += 8) {
        __m256 e = ig_exp_negative8(_mm256_sub_ps(_mm256_loadu_ps(x + i), max));
        sum = _mm256_add_ps(sum, e);
        _mm256_storeu_ps(y + i, e);
    }
    __m256 rest = _mm256_setzero_ps();
    if (i < n) rest = ig_exp_negative8(_mm256_sub_ps(load_or_least(x, i, n), max));
    __m256 factor = _mm256_set1_ps(1 / sum_of(_mm256_add_ps(sum, rest)));
    if (i < n) ig_store_part(y + i, _mm256_mul_ps(rest, factor), n - i);
    for (i = 0; i + 8 <= n; i += 8) _mm256_storeu_ps(y + i, _mm256_mul_ps(_mm256_loadu_ps(y + i), factor));
}

static void log_softmax(const float *x, float *y, int32_t n)
{
    __m256 max = largest(x, n), sum = _mm256_setzero_ps();
    for (int32_t i = 0; i < n; i += 8)
        sum = _mm256_add_ps(sum, ig_exp_negative8(_mm256_sub_ps(load_or_least(x, i, n), max)));
    __m256 log = ig_log8(_mm256_set1_ps(sum_of(sum)));
    for (int32_t i = 0; i < n; i += 8)
        ig_store_upto8(y + i, _mm256_sub_ps(_mm256_sub_ps(ig_load_upto8(x + i, n - i), max), log), n - i);
}

void softmax_f32_8__avx2(const struct ig_call *call, struct ig_range range, void *scratch)
{
    const struct ig_operand *in = &call->in[0], *out = &call->out[0];
    int log = ((const struct ig_axis *)call->attrs)->mode == IG_SOFTMAX_LOG;
    (void)scratch;
    for (int32_t y = range.y0; y < range.y1; y++)
        for (int32_t x = 0; x < out->w; x++)
            (log ? log_softmax : softmax)(ig_row_f32(in, y) + x * in->pixel_stride,
                                          ig_row_f32(out, y) + x * out->pixel_stride, out->c);
}
