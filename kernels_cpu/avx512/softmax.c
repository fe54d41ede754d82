/*
 * Softmax over the channels of a pixel, as avx2/softmax.c: maximum, e^(x - max) into the output and its sum, then times 1 / sum.
 * Log: x - max - ln sum, without storing the exponentials. The output may be the input.
 */
#include "kernels_cpu/avx2/vmath.h"
#include "kernels_cpu/avx512/kernels.h"
#include "kernels_cpu/avx512/vec.h"
#include "kernels_cpu/avx512/vmath.h"

#define INLINE static inline __attribute__((always_inline))

/* Elements i .. i+15 of n, the ones past the end as -inf. */
INLINE __m512 load_or_least(const float *x, int32_t i, int32_t n)
{
    if (n - i >= 16) return _mm512_loadu_ps(x + i);
    return _mm512_mask_loadu_ps(_mm512_set1_ps(-__builtin_inff()), ig_mask16(n - i), x + i);
}

INLINE __m512 largest(const float *x, int32_t n)
{
    __m512 max[4];
    int32_t i = 0;
    for (int k = 0; k < 4; k++) max[k] = _mm512_set1_ps(-__builtin_inff());
    for (; i + 64 <= n; i += 64)
        for (int k = 0; k < 4; k++) max[k] = _mm512_max_ps(max[k], _mm512_loadu_ps(x + i + 16 * k));
    for (; i < n; i += 16) max[0] = _mm512_max_ps(max[0], load_or_least(x, i, n));
    return _mm512_set1_ps(_mm512_reduce_max_ps(_mm512_max_ps(_mm512_max_ps(max[0], max[1]), _mm512_max_ps(max[2], max[3]))));
}

static void softmax(const float *x, float *y, int32_t n)
{
    const __m512 max = largest(x, n);
    __m512 sum = _mm512_setzero_ps(), rest = _mm512_setzero_ps();
    int32_t i = 0;
    for (; i + 16 <= n; i += 16) {
        const __m512 e = ig_exp_negative16(_mm512_sub_ps(_mm512_loadu_ps(x + i), max));
        sum = _mm512_add_ps(sum, e);
        _mm512_storeu_ps(y + i, e);
    }
    if (i < n) rest = ig_exp_negative16(_mm512_sub_ps(load_or_least(x, i, n), max));
    const __m512 factor = _mm512_set1_ps(1 / _mm512_reduce_add_ps(_mm512_add_ps(sum, rest)));
    if (i < n) ig_store_part16(y + i, _mm512_mul_ps(rest, factor), n - i);
    for (i = 0; i + 16 <= n; i += 16) _mm512_storeu_ps(y + i, _mm512_mul_ps(_mm512_loadu_ps(y + i), factor));
}

static void log_softmax(const float *x, float *y, int32_t n)
{
    const __m512 max = largest(x, n);
    __m512 sum = _mm512_setzero_ps();
    for (int32_t i = 0; i < n; i += 16) sum = _mm512_add_ps(sum, ig_exp_negative16(_mm512_sub_ps(load_or_least(x, i, n), max)));
    const __m512 log = _mm512_broadcastss_ps(_mm256_castps256_ps128(ig_log8(_mm256_set1_ps(_mm512_reduce_add_ps(sum)))));
    for (int32_t i = 0; i < n; i += 16) {
        const __mmask16 there = n - i >= 16 ? 0xffff : ig_mask16(n - i);
        _mm512_mask_storeu_ps(y + i, there, _mm512_sub_ps(_mm512_sub_ps(_mm512_maskz_loadu_ps(there, x + i), max), log));
    }
}

void softmax_f32_16__avx512(const struct ig_call *call, struct ig_range range, void *scratch)
{
    const struct ig_operand *in = &call->in[0], *out = &call->out[0];
    const int log = ((const struct ig_axis *)call->attrs)->mode == IG_SOFTMAX_LOG;
    (void)scratch;
    for (int32_t y = range.y0; y < range.y1; y++)
        for (int32_t x = 0; x < out->w; x++)
            (log ? log_softmax : softmax)(ig_row_f32(in, y) + x * in->pixel_stride, ig_row_f32(out, y) + x * out->pixel_stride, out->c);
}
