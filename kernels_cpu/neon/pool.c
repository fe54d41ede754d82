/*
 * Pooling, maximum and average, any window: pixel by pixel over the taps inside the image, 16 channels (4 accumulators)
 * at a time, then 4. Taps are taken row by row, depth by depth, whatever the channel's place.
 */
#include "kernels_cpu/common/pool.h"
#include "kernels_cpu/neon/kernels.h"
#include "kernels_cpu/neon/vec.h"

#define INLINE static inline __attribute__((always_inline))

INLINE float32x4_t combine(float32x4_t a, float32x4_t b, int max)
{
    return max ? vmaxq_f32(a, b) : vaddq_f32(a, b);
}

INLINE float32x4_t start(int max)
{
    return vdupq_n_f32(max ? -__builtin_inff() : 0);
}

INLINE float32x4_t finish(float32x4_t sum, const struct ig_pool_view *v, int max)
{
    return max ? sum : vdivq_f32(sum, vdupq_n_f32(v->divisor));
}

/* Column 0 of the window's row i of depth k, channel c. */
INLINE const float *row_of(const struct ig_pool_view *v, int32_t k, int32_t i, int32_t c)
{
    return ig_row_f32(v->in, v->y + k * v->dd + i * v->dh) + v->x * v->in->pixel_stride + c;
}

INLINE void pool_16(const struct ig_pool_view *v, int32_t c, float *out, int max)
{
    float32x4_t s0 = start(max), s1 = s0, s2 = s0, s3 = s0;
    int64_t step = v->dw * v->in->pixel_stride;
    for (int32_t k = 0; k < v->depths; k++)
        for (int32_t i = 0; i < v->rows; i++) {
            const float *p = row_of(v, k, i, c);
            for (int32_t j = 0; j < v->columns; j++, p += step) {
                s0 = combine(s0, vld1q_f32(p), max);
                s1 = combine(s1, vld1q_f32(p + 4), max);
                s2 = combine(s2, vld1q_f32(p + 8), max);
                s3 = combine(s3, vld1q_f32(p + 12), max);
            }
        }
    vst1q_f32(out, finish(s0, v, max));
    vst1q_f32(out + 4, finish(s1, v, max));
    vst1q_f32(out + 8, finish(s2, v, max));
    vst1q_f32(out + 12, finish(s3, v, max));
}

INLINE void pool_4(const struct ig_pool_view *v, int32_t c, int32_t n, float *out, int max)
{
    float32x4_t s = start(max);
    int64_t step = v->dw * v->in->pixel_stride;
    for (int32_t k = 0; k < v->depths; k++)
        for (int32_t i = 0; i < v->rows; i++) {
            const float *p = row_of(v, k, i, c);
            for (int32_t j = 0; j < v->columns; j++, p += step) s = combine(s, ig_load_upto4(p, n), max);
        }
    ig_store_upto4(out, finish(s, v, max), n);
}

INLINE void pixel(const struct ig_pool_view *v, struct ig_range range, float *out, int max)
{
    int32_t c = range.c0;
    for (; c + 16 <= range.c1; c += 16) pool_16(v, c, out + c, max);
    for (; c < range.c1; c += 4) pool_4(v, c, range.c1 - c, out + c, max);
}

void pool_f32_4__neon(const struct ig_call *call, struct ig_range range, void *scratch)
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
