/*
 * Normalisations, kernels_cpu/ref/norm.c, of the channels of a pixel, which lie side by side (layer, RMS), and of channels or groups of them over
 * an image's pixels (instance, group). Mean first, then the squares of what differs from it.
 */
#include <math.h>
#include <string.h>

#include "kernels_cpu/avx2/kernels.h"
#include "kernels_cpu/avx2/vec.h"

#define INLINE static inline __attribute__((always_inline))

static float sum_of(__m256 v)
{
    __m128 x = _mm_add_ps(_mm256_castps256_ps128(v), _mm256_extractf128_ps(v, 1));
    x = _mm_add_ps(x, _mm_movehl_ps(x, x));
    return _mm_cvtss_f32(_mm_add_ss(x, _mm_shuffle_ps(x, x, 1)));
}

/* Sum over i < n of (x[i] - shift)^2, or of x[i]; what is past the end of `rest` counts as shift. */
INLINE float total(const float *x, int32_t n, float shift, const int squares)
{
    enum { PARTS = 4 };
    const __m256 mean = _mm256_set1_ps(shift);
    __m256 sum[PARTS];
    int32_t i = 0;
    for (int k = 0; k < PARTS; k++) sum[k] = _mm256_setzero_ps();
#define ADD(k, v) sum[k] = squares ? _mm256_fmadd_ps(_mm256_sub_ps(v, mean), _mm256_sub_ps(v, mean), sum[k]) : _mm256_add_ps(sum[k], v)
    for (; i + 8 * PARTS <= n; i += 8 * PARTS)
        for (int k = 0; k < PARTS; k++) {
            const __m256 v = _mm256_loadu_ps(x + i + 8 * k);
            ADD(k, v);
        }
    for (; i + 8 <= n; i += 8) {
        const __m256 v = _mm256_loadu_ps(x + i);
        ADD(0, v);
    }
    if (i < n) {
        __m256 v = ig_load_upto8(x + i, n - i);
        if (squares) v = _mm256_blendv_ps(mean, v, _mm256_castsi256_ps(ig_mask8(n - i)));
        ADD(1, v);
    }
#undef ADD
    return sum_of(_mm256_add_ps(_mm256_add_ps(sum[0], sum[1]), _mm256_add_ps(sum[2], sum[3])));
}

/* y = (x - shift) factor scale + bias; scale and bias may be NULL. */
static void put(const float *x, float *y, int32_t n, float shift, float factor, const float *scale, const float *bias)
{
    const __m256 mean = _mm256_set1_ps(shift), by = _mm256_set1_ps(factor);
    for (int32_t i = 0; i < n; i += 8) {
        __m256 v = _mm256_mul_ps(_mm256_sub_ps(ig_load_upto8(x + i, n - i), mean), by);
        if (scale && bias) v = _mm256_fmadd_ps(v, ig_load_upto8(scale + i, n - i), ig_load_upto8(bias + i, n - i));
        else if (scale) v = _mm256_mul_ps(v, ig_load_upto8(scale + i, n - i));
        else if (bias) v = _mm256_add_ps(v, ig_load_upto8(bias + i, n - i));
        ig_store_upto8(y + i, v, n - i);
    }
}

static const float *parameter(const struct ig_call *call, int k)
{
    return call->n_in > k ? (const float *)call->in[k].data : NULL;
}

void norm_f32_pixel8__avx2(const struct ig_call *call, struct ig_range range, void *scratch)
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
    float *part, *mean;   /* [n] and up to 7 more */
    double *sums;         /* [n] */
};

/* part[c] = the sum over `pixels` of x, or of (x - mean[c])^2. */
INLINE void chunk(const struct image *m, const float *x, int64_t pixels, const int squares)
{
    for (int32_t c = 0; c < m->n; c += 8) {
        const int32_t left = m->n - c;
        const __m256 mean = squares ? _mm256_loadu_ps(m->mean + c) : _mm256_setzero_ps();
        const float *p = x + c;
        __m256 sum = _mm256_setzero_ps();
        for (int64_t i = 0; i < pixels; i++, p += m->step) {
            const __m256 v = left >= 8 ? _mm256_loadu_ps(p) : ig_load_upto8(p, left);
            sum = squares ? _mm256_fmadd_ps(_mm256_sub_ps(v, mean), _mm256_sub_ps(v, mean), sum) : _mm256_add_ps(sum, v);
        }
        _mm256_storeu_ps(m->part + c, sum);
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
        for (int32_t c = 0; c < m->n; c += 8) {
            const int32_t left = m->n - c;
            const __m256 v = _mm256_sub_ps(ig_load_upto8(m->x + i * m->step + c, left), _mm256_loadu_ps(m->mean + c));
            const __m256 to = bias ? ig_load_upto8(bias + c, left) : _mm256_setzero_ps();
            ig_store_upto8(y + i * m->step + c, _mm256_fmadd_ps(v, _mm256_loadu_ps(m->part + c), to), left);
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
    const int32_t n = in->shape->dims[0], room = (c1 - c0 + 7) / 8 * 8;
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

void norm_f32_instance8__avx2(const struct ig_call *call, struct ig_range range, void *scratch)
{
    images(call, range.c0, range.c1, 1, scratch);
}

void norm_f32_group8__avx2(const struct ig_call *call, struct ig_range range, void *scratch)
{
    (void)range;
    images(call, 0, call->in[0].c, call->in[0].c / ((const struct ig_norm *)call->attrs)->groups, scratch);
}
