/*
 * Global pooling, maximum and average: 16 channels at a time, then 4. A channel's sum is made of the sums of
 * its rows, in order: short chains, and the same bits however the channels are cut.
 */
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

INLINE float32x4_t finish(float32x4_t sum, const struct ig_operand *in, int max)
{
    return max ? sum : vdivq_f32(sum, vdupq_n_f32((float)((int64_t)in->h * in->w)));
}

INLINE void pool_16(const struct ig_operand *in, int32_t c, float *out, int max)
{
    float32x4_t s0 = start(max), s1 = s0, s2 = s0, s3 = s0;
    for (int32_t y = 0; y < in->h; y++) {
        const float *p = ig_row_f32(in, y) + c;
        float32x4_t r0 = start(max), r1 = r0, r2 = r0, r3 = r0;
        for (int32_t x = 0; x < in->w; x++, p += in->pixel_stride) {
            r0 = combine(r0, vld1q_f32(p), max);
            r1 = combine(r1, vld1q_f32(p + 4), max);
            r2 = combine(r2, vld1q_f32(p + 8), max);
            r3 = combine(r3, vld1q_f32(p + 12), max);
        }
        s0 = combine(s0, r0, max);
        s1 = combine(s1, r1, max);
        s2 = combine(s2, r2, max);
        s3 = combine(s3, r3, max);
    }
    vst1q_f32(out, finish(s0, in, max));
    vst1q_f32(out + 4, finish(s1, in, max));
    vst1q_f32(out + 8, finish(s2, in, max));
    vst1q_f32(out + 12, finish(s3, in, max));
}

INLINE void pool_4(const struct ig_operand *in, int32_t c, int32_t n, float *out, int max)
{
    float32x4_t s = start(max);
    for (int32_t y = 0; y < in->h; y++) {
        const float *p = ig_row_f32(in, y) + c;
        float32x4_t r = start(max);
        for (int32_t x = 0; x < in->w; x++, p += in->pixel_stride) r = combine(r, ig_load_upto4(p, n), max);
        s = combine(s, r, max);
    }
    ig_store_upto4(out, finish(s, in, max), n);
}

INLINE void channels(const struct ig_operand *in, struct ig_range range, float *out, int max)
{
    int32_t c = range.c0;
    for (; c + 16 <= range.c1; c += 16) pool_16(in, c, out + c, max);
    for (; c < range.c1; c += 4) pool_4(in, c, range.c1 - c, out + c, max);
}

void global_pool_f32_4__neon(const struct ig_call *call, struct ig_range range, void *scratch)
{
    (void)scratch;
    if (range.y0 == range.y1) return;
    if (((const struct ig_global_pool *)call->attrs)->kind == IG_POOL_MAX)
        channels(&call->in[0], range, ig_row_f32(&call->out[0], 0), 1);
    else
        channels(&call->in[0], range, ig_row_f32(&call->out[0], 0), 0);
}
