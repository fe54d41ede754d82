/*
 * Pooling, maximum and average, any window: pixel by pixel over the taps inside the image, 32 channels (4 accumulators)
 * at a time, then 8. Taps are taken row by row, depth by depth, whatever the channel's place.
 */
#include "kernels_cpu/avx2/kernels.h"
#include "kernels_cpu/avx2/vec.h"
#include "kernels_cpu/common/pool.h"

#define INLINE static inline __attribute__((always_inline))

INLINE __m256 combine(__m256 a, __m256 b, int max)
{
    return max ? _mm256_max_ps(a, b) : _mm256_add_ps(a, b);
}

/* Column 0 of the window's row i of depth k, channel c. */
INLINE const float *row_of(const struct ig_pool_view *v, int32_t k, int32_t i, int32_t c)
{
    return ig_row_f32(v->in, v->y + k * v->dd + i * v->dh) + v->x * v->in->pixel_stride + c;
}

INLINE void pool_32(const struct ig_pool_view *v, int32_t c, float *out, int max)
{
    __m256 s0 = max ? _mm256_set1_ps(-__builtin_inff()) : _mm256_setzero_ps(), s1 = s0, s2 = s0, s3 = s0;
    int64_t step = v->dw * v->in->pixel_stride;
    for (int32_t k = 0; k < v->depths; k++)
        for (int32_t i = 0; i < v->rows; i++) {
            const float *p = row_of(v, k, i, c);
            for (int32_t j = 0; j < v->columns; j++, p += step) {
                s0 = combine(s0, _mm256_loadu_ps(p), max);
                s1 = combine(s1, _mm256_loadu_ps(p + 8), max);
                s2 = combine(s2, _mm256_loadu_ps(p + 16), max);
                s3 = combine(s3, _mm256_loadu_ps(p + 24), max);
            }
        }
    __m256 d = _mm256_set1_ps(v->divisor);
    _mm256_storeu_ps(out, max ? s0 : _mm256_div_ps(s0, d));
    _mm256_storeu_ps(out + 8, max ? s1 : _mm256_div_ps(s1, d));
    _mm256_storeu_ps(out + 16, max ? s2 : _mm256_div_ps(s2, d));
    _mm256_storeu_ps(out + 24, max ? s3 : _mm256_div_ps(s3, d));
}

INLINE void pool_8(const struct ig_pool_view *v, int32_t c, int32_t n, float *out, int max)
{
    __m256 s = max ? _mm256_set1_ps(-__builtin_inff()) : _mm256_setzero_ps();
    int64_t step = v->dw * v->in->pixel_stride;
    for (int32_t k = 0; k < v->depths; k++)
        for (int32_t i = 0; i < v->rows; i++) {
            const float *p = row_of(v, k, i, c);
            for (int32_t j = 0; j < v->columns; j++, p += step) s = combine(s, ig_load_upto8(p, n), max);
        }
    ig_store_upto8(out, max ? s : _mm256_div_ps(s, _mm256_set1_ps(v->divisor)), n);
}

INLINE void pixel(const struct ig_pool_view *v, struct ig_range range, float *out, int max)
{
    int32_t c = range.c0;
    for (; c + 32 <= range.c1; c += 32) pool_32(v, c, out + c, max);
    for (; c < range.c1; c += 8) pool_8(v, c, range.c1 - c, out + c, max);
}

void pool_f32_8__avx2(const struct ig_call *call, struct ig_range range, void *scratch)
{
    const struct ig_operand *out = &call->out[0];
    int max = ((const struct ig_pool *)call->attrs)->kind == IG_POOL_MAX;
    (void)scratch;
    for (int32_t y = range.y0; y < range.y1; y++) {
        struct ig_pool_view v = ig_pool_row_of(call, y);
        float *p = ig_row_f32(out, y);
        for (int32_t x = 0; x < out->w; x++, p += out->pixel_stride) {
            ig_pool_move(&v, call, x);
            if (max)
                pixel(&v, range, p, 1);
            else
                pixel(&v, range, p, 0);
        }
    }
}
