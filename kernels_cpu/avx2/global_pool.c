/*
 * Global pooling, maximum and average: 32 channels at a time, then 8. A channel's sum is made of the sums of its rows,
 * in order: short chains, and the same bits however the channels are cut.
 */
#include "kernels_cpu/avx2/kernels.h"
#include "kernels_cpu/avx2/vec.h"

#define INLINE static inline __attribute__((always_inline))

INLINE __m256 combine(__m256 a, __m256 b, int max)
{
    return max ? _mm256_max_ps(a, b) : _mm256_add_ps(a, b);
}

INLINE __m256 finish(__m256 sum, const struct ig_operand *in, int max)
{
    return max ? sum : _mm256_div_ps(sum, _mm256_set1_ps((float)((int64_t)in->h * in->w)));
}

INLINE void pool_32(const struct ig_operand *in, int32_t c, float *out, int max)
{
    __m256 none = max ? _mm256_set1_ps(-__builtin_inff()) : _mm256_setzero_ps(), s[4] = {none, none, none, none};
    for (int32_t y = 0; y < in->h; y++) {
        const float *p = ig_row_f32(in, y) + c;
        __m256 r0 = none, r1 = none, r2 = none, r3 = none;
        for (int32_t x = 0; x < in->w; x++, p += in->pixel_stride) {
            r0 = combine(r0, _mm256_loadu_ps(p), max);
            r1 = combine(r1, _mm256_loadu_ps(p + 8), max);
            r2 = combine(r2, _mm256_loadu_ps(p + 16), max);
            r3 = combine(r3, _mm256_loadu_ps(p + 24), max);
        }
        s[0] = combine(s[0], r0, max);
        s[1] = combine(s[1], r1, max);
        s[2] = combine(s[2], r2, max);
        s[3] = combine(s[3], r3, max);
    }
    for (int i = 0; i < 4; i++) _mm256_storeu_ps(out + 8 * i, finish(s[i], in, max));
}

INLINE void pool_8(const struct ig_operand *in, int32_t c, int32_t n, float *out, int max)
{
    __m256 none = max ? _mm256_set1_ps(-__builtin_inff()) : _mm256_setzero_ps(), s = none;
    for (int32_t y = 0; y < in->h; y++) {
        const float *p = ig_row_f32(in, y) + c;
        __m256 r = none;
        for (int32_t x = 0; x < in->w; x++, p += in->pixel_stride) r = combine(r, ig_load_upto8(p, n), max);
        s = combine(s, r, max);
    }
    ig_store_upto8(out, finish(s, in, max), n);
}

INLINE void channels(const struct ig_operand *in, struct ig_range range, float *out, int max)
{
    int32_t c = range.c0;
    for (; c + 32 <= range.c1; c += 32) pool_32(in, c, out + c, max);
    for (; c < range.c1; c += 8) pool_8(in, c, range.c1 - c, out + c, max);
}

void global_pool_f32_8__avx2(const struct ig_call *call, struct ig_range range, void *scratch)
{
    (void)scratch;
    if (range.y0 == range.y1) return;
    if (((const struct ig_global_pool *)call->attrs)->kind == IG_POOL_MAX)
        channels(&call->in[0], range, ig_row_f32(&call->out[0], 0), 1);
    else
        channels(&call->in[0], range, ig_row_f32(&call->out[0], 0), 0);
}
