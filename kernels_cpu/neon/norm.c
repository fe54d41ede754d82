/*
 * Normalisations, kernels_cpu/ref/norm.c, of the channels of a pixel, which lie side by side (layer, RMS), and of channels or groups of them over
 * an image's pixels (instance, group). Mean first, then the squares of what differs from it.
 */
#include <math.h>
#include <string.h>

#include "kernels_cpu/neon/kernels.h"
#include "kernels_cpu/neon/vec.h"

#define INLINE static inline __attribute__((always_inline))

/* Sum over i < n of (x[i] - shift)^2, or of x[i]; what is past the end of `rest` counts as shift. */
INLINE float total(const float *x, int32_t n, float shift, const int squares)
{
    enum { PARTS = 4 };
    const float32x4_t mean = vdupq_n_f32(shift);
    float32x4_t sum[PARTS];
    int32_t i = 0;
    for (int k = 0; k < PARTS; k++) sum[k] = vdupq_n_f32(0);
#define ADD(k, v) sum[k] = squares ? vfmaq_f32(sum[k], vsubq_f32(v, mean), vsubq_f32(v, mean)) : vaddq_f32(sum[k], v)
    for (; i + 4 * PARTS <= n; i += 4 * PARTS)
        for (int k = 0; k < PARTS; k++) {
            const float32x4_t v = vld1q_f32(x + i + 4 * k);
            ADD(k, v);
        }
    for (; i + 4 <= n; i += 4) {
        const float32x4_t v = vld1q_f32(x + i);
        ADD(0, v);
    }
    if (i < n) {
        float32x4_t v = ig_load_upto4(x + i, n - i);
        for (int32_t k = n - i; squares && k < 4; k++) v[k] = shift;
        ADD(1, v);
    }
#undef ADD
    return vaddvq_f32(vaddq_f32(vaddq_f32(sum[0], sum[1]), vaddq_f32(sum[2], sum[3])));
}

/* y = (x - shift) factor scale + bias; scale and bias may be NULL. */
static void put(const float *x, float *y, int32_t n, float shift, float factor, const float *scale, const float *bias)
{
    const float32x4_t mean = vdupq_n_f32(shift), by = vdupq_n_f32(factor);
    for (int32_t i = 0; i < n; i += 4) {
        float32x4_t v = vmulq_f32(vsubq_f32(ig_load_upto4(x + i, n - i), mean), by);
        if (scale && bias) v = vfmaq_f32(ig_load_upto4(bias + i, n - i), v, ig_load_upto4(scale + i, n - i));
        else if (scale) v = vmulq_f32(v, ig_load_upto4(scale + i, n - i));
        else if (bias) v = vaddq_f32(v, ig_load_upto4(bias + i, n - i));
        ig_store_upto4(y + i, v, n - i);
    }
}

static const float *parameter(const struct ig_call *call, int k)
{
    return call->n_in > k ? (const float *)call->in[k].data : NULL;
}

void norm_f32_pixel4__neon(const struct ig_call *call, struct ig_range range, void *scratch)
{
    const struct ig_operand *in = &call->in[0], *out = &call->out[0];
    const struct ig_norm *a = (const struct ig_norm *)call->attrs;
    const float *scale = parameter(call, 1), *bias = parameter(call, 2);
    const int32_t n = out->c;
    (void)scratch;
    for (int32_t y = range.y0; y < range.y1; y++) {
        const float *x = ig_row_f32(in, y);
        float *to = ig_row_f32(out, y);
        for (int32_t i = 0; i < out->w; i++, x += in->pixel_stride, to += out->pixel_stride) {
            const float mean = a->kind == IG_NORM_RMS ? 0 : total(x, n, 0, 0) / (float)n;
            put(x, to, n, mean, 1 / sqrtf(total(x, n, mean, 1) / (float)n + a->epsilon), scale, bias);
        }
    }
}

enum { CHUNK = 64 }; /* pixels whose sums are single */

struct image {
    const float *x;
    int64_t pixels, step; /* floats from a pixel to the next */
    int32_t n;            /* channels */
    float *part, *mean;   /* [n] and up to 3 more */
    double *sums;         /* [n] */
};

/* part[c] = the sum over `pixels` of x, or of (x - mean[c])^2. */
INLINE void chunk(const struct image *m, const float *x, int64_t pixels, const int squares)
{
    for (int32_t c = 0; c < m->n; c += 4) {
        const int32_t left = m->n - c;
        const float32x4_t mean = squares ? vld1q_f32(m->mean + c) : vdupq_n_f32(0);
        const float *p = x + c;
        float32x4_t sum = vdupq_n_f32(0);
        for (int64_t i = 0; i < pixels; i++, p += m->step) {
            const float32x4_t v = left >= 4 ? vld1q_f32(p) : ig_load_upto4(p, left);
            sum = squares ? vfmaq_f32(sum, vsubq_f32(v, mean), vsubq_f32(v, mean)) : vaddq_f32(sum, v);
        }
        vst1q_f32(m->part + c, sum);
    }
}

INLINE void sums_of(const struct image *m, const int squares)
{
    for (int32_t c = 0; c < m->n; c++) m->sums[c] = 0;
    for (int64_t i = 0; i < m->pixels; i += CHUNK) {
        chunk(m, m->x + i * m->step, m->pixels - i < CHUNK ? m->pixels - i : CHUNK, squares);
        for (int32_t c = 0; c < m->n; c++) m->sums[c] += m->part[c];
    }
}

/* Each sum becomes its group's average. */
static void average(const struct image *m, int32_t width)
{
    for (int32_t c = 0; c < m->n; c += width) {
        double sum = 0;
        for (int32_t i = 0; i < width; i++) sum += m->sums[c + i];
        for (int32_t i = 0; i < width; i++) m->sums[c + i] = sum / ((double)m->pixels * width);
    }
}

static void put_image(const struct image *m, float *y, const float *bias)
{
    for (int64_t i = 0; i < m->pixels; i++)
        for (int32_t c = 0; c < m->n; c += 4) {
            const int32_t left = m->n - c;
            const float32x4_t v = vsubq_f32(ig_load_upto4(m->x + i * m->step + c, left), vld1q_f32(m->mean + c));
            const float32x4_t to = bias ? ig_load_upto4(bias + c, left) : vdupq_n_f32(0);
            ig_store_upto4(y + i * m->step + c, vfmaq_f32(to, v, vld1q_f32(m->part + c)), left);
        }
}

static void normalise(const struct image *m, float *y, int32_t width, float epsilon, const float *scale, const float *bias)
{
    sums_of(m, 0);
    average(m, width);
    for (int32_t c = 0; c < m->n; c++) m->mean[c] = (float)m->sums[c];
    sums_of(m, 1);
    average(m, width);
    for (int32_t c = 0; c < m->n; c++) m->part[c] = (scale ? scale[c] : 1) / sqrtf((float)m->sums[c] + epsilon);
    put_image(m, y, bias);
}

/* Channels [c0, c1), whole groups of `width`, of all images. */
static void images(const struct ig_call *call, int32_t c0, int32_t c1, int32_t width, void *scratch)
{
    const struct ig_operand *in = &call->in[0];
    const float *scale = parameter(call, 1), *bias = parameter(call, 2);
    const int32_t n = in->shape->dims[0], room = (c1 - c0 + 3) / 4 * 4;
    struct image m = {.pixels = (int64_t)in->h * in->w / n, .step = in->c, .n = c1 - c0, .sums = (double *)scratch};
    m.part = (float *)(m.sums + room);
    m.mean = m.part + room;
    for (int32_t i = 0; i < n; i++) {
        const int64_t at = i * m.pixels * m.step + c0;
        m.x = (const float *)in->data + at;
        normalise(&m, (float *)call->out[0].data + at, width, ((const struct ig_norm *)call->attrs)->epsilon, scale ? scale + c0 : NULL,
                  bias ? bias + c0 : NULL);
    }
}

void norm_f32_instance4__neon(const struct ig_call *call, struct ig_range range, void *scratch)
{
    images(call, range.c0, range.c1, 1, scratch);
}

void norm_f32_group4__neon(const struct ig_call *call, struct ig_range range, void *scratch)
{
    (void)range;
    images(call, 0, call->in[0].c, call->in[0].c / ((const struct ig_norm *)call->attrs)->groups, scratch);
}
