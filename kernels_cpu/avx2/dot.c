/*
 * Pointwise convolution and FC without padded weights: y[p][c] = bias[c] + x[p] . w[c], each w[c] contiguous, as ONNX
 * has it. For plans of least memory where the output channels are no multiple of 16: an FC to 1,000 classes on panels
 * of 16 has 41 kB of zeros in its weights, a squeeze to 4 channels three times its own size.
 *
 * Blocks of 3 pixels by 4 channels: 12 sums of 8 lanes each, an x and a w, 14 registers; every load of x serves 4 sums,
 * every load of w 3. One pixel alone streams the weights, which memory bounds anyway. The lanes are added at the end in
 * one order, ((0+1)+(2+3)) + ((4+5)+(6+7)), whatever the block, so that the bits do not depend on the cut.
 */
#include "kernels_cpu/avx2/act.h"
#include "kernels_cpu/avx2/kernels.h"
#include "kernels_cpu/avx2/vec.h"

enum { PIXELS = 3, CHANNELS = 4 };

struct dots {
    const struct ig_call *call;
    struct ig_act act;
    struct ig_range range;
    int32_t sh, sw;        /* strides of the window */
};

#define INLINE static inline __attribute__((always_inline))

/* Eight elements from i on, or `left` where that is less, of n pixels; n is known where this is inlined. */
INLINE void step(const float *const *x, const float *const *w, int64_t i, int64_t left, const int n,
                 __m256 sum[PIXELS][CHANNELS])
{
    __m256 v[PIXELS];
#pragma GCC unroll 3
    for (int p = 0; p < n; p++) v[p] = ig_load_upto8(x[p] + i, left);
#pragma GCC unroll 4
    for (int c = 0; c < CHANNELS; c++) {
        __m256 b = ig_load_upto8(w[c] + i, left);
#pragma GCC unroll 3
        for (int p = 0; p < n; p++) sum[p][c] = _mm256_fmadd_ps(v[p], b, sum[p][c]);
    }
}

/* out[p*CHANNELS + c] = x[p] . w[c] of n pixels. */
INLINE void block(const float *const *x, const float *const *w, int64_t k, const int n, float *out)
{
    __m256 sum[PIXELS][CHANNELS];
    int64_t i = 0;
#pragma GCC unroll 3
    for (int p = 0; p < n; p++)
#pragma GCC unroll 4
        for (int c = 0; c < CHANNELS; c++) sum[p][c] = _mm256_setzero_ps();
    for (; i + 8 <= k; i += 8) step(x, w, i, 8, n, sum);
    if (i < k) step(x, w, i, k - i, n, sum);
#pragma GCC unroll 3
    for (int p = 0; p < n; p++) {
        __m256 low = _mm256_hadd_ps(sum[p][0], sum[p][1]), high = _mm256_hadd_ps(sum[p][2], sum[p][3]);
        __m256 all = _mm256_hadd_ps(low, high);
        __m128 sums = _mm_add_ps(_mm256_castps256_ps128(all), _mm256_extractf128_ps(all, 1));
        _mm_storeu_ps(out + p * CHANNELS, sums);
    }
}

static void one_pixel(const float *const *x, const float *const *w, int64_t k, float *out)
{
    block(x, w, k, 1, out);
}

static void three_pixels(const float *const *x, const float *const *w, int64_t k, float *out)
{
    block(x, w, k, PIXELS, out);
}

/* Pixels x0 .. x0 + n - 1 of row y, all channels of the range; n is 1 or PIXELS. */
static void pixels(const struct dots *d, int32_t y, int32_t x0, int32_t n)
{
    const struct ig_operand *in = &d->call->in[0], *out = &d->call->out[0], *r = &d->call->in[3];
    const float *bias = (const float *)d->call->weights, *weights = bias + out->c, *x[PIXELS];
    int residual = d->call->n_in > 3 && r->data;
    for (int32_t p = 0; p < n; p++) x[p] = ig_row_f32(in, y * d->sh) + (x0 + p) * d->sw * in->pixel_stride;
    for (int32_t c = d->range.c0; c < d->range.c1; c += CHANNELS) {
        int32_t width = d->range.c1 - c < CHANNELS ? d->range.c1 - c : CHANNELS;
        const float *w[CHANNELS];
        float sums[PIXELS * CHANNELS];
        for (int32_t i = 0; i < CHANNELS; i++) w[i] = weights + (int64_t)(c + (i < width ? i : 0)) * in->c;
        (n == 1 ? one_pixel : three_pixels)(x, w, in->c, sums);
        for (int32_t p = 0; p < n; p++) {
            float *to = ig_row_f32(out, y) + (x0 + p) * out->pixel_stride + c;
            const float *more = residual ? ig_row_f32(r, y) + (x0 + p) * r->pixel_stride + c : NULL;
            for (int32_t i = 0; i < width; i++) {
                float sum = sums[p * CHANNELS + i] + bias[c + i];
                to[i] = more ? sum + more[i] : sum;
            }
        }
    }
}

static void run(const struct dots *d)
{
    const struct ig_operand *out = &d->call->out[0];
    for (int32_t y = d->range.y0; y < d->range.y1; y++) {
        int32_t x = 0;
        for (; x + PIXELS <= out->w; x += PIXELS) pixels(d, y, x, PIXELS);
        for (; x < out->w; x++) pixels(d, y, x, 1);
        float *row = ig_row_f32(out, y) + d->range.c0;
        if (d->act.kind != IG_NONE)
            ig_act_pixels_avx2(row, out->pixel_stride, row, out->pixel_stride, out->w, d->range.c1 - d->range.c0,
                               &d->act);
    }
}

void conv_f32_dot3x4__avx2(const struct ig_call *call, struct ig_range range, void *scratch)
{
    const struct ig_conv *conv = (const struct ig_conv *)call->attrs;
    (void)scratch;
    run(&(struct dots){call, conv->act, range, conv->w.sh, conv->w.sw});
}

void fc_f32_dot3x4__avx2(const struct ig_call *call, struct ig_range range, void *scratch)
{
    (void)scratch;
    run(&(struct dots){call, ((const struct ig_fc *)call->attrs)->act, range, 1, 1});
}
