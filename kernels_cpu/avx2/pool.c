/*
 * Pooling, maximum and average, any window of two dims: pixel by pixel over the taps inside the image, 32 channels
 * (4 accumulators) at a time, then 8. Taps are taken row by row, whatever the channel's place.
 */
#include "kernels_cpu/avx2/kernels.h"
#include "kernels_cpu/avx2/vec.h"

struct view {                /* the part of one output's window that is inside the image */
    const struct ig_operand *in;
    int32_t y, x;            /* the first tap in it, input coordinates */
    int32_t rows, columns;   /* taps */
    int32_t dh, dw;
    float divisor;           /* average: what the sum is divided by */
};

static int32_t max32(int32_t a, int32_t b)
{
    return a > b ? a : b;
}

/* Taps k of `taps` with 0 <= start + k*dilation < end: the first, and their number. */
static int32_t clip_taps(int32_t start, int32_t taps, int32_t dilation, int32_t end, int32_t *first)
{
    int32_t k0 = start < 0 ? (-start + dilation - 1) / dilation : 0;
    int32_t k1 = end > start ? (end - start + dilation - 1) / dilation : 0;
    *first = start + k0 * dilation;
    return max32(0, (k1 < taps ? k1 : taps) - k0);
}

static struct view view_of(const struct ig_call *call, int32_t y, int32_t x)
{
    const struct ig_pool *pool = (const struct ig_pool *)call->attrs;
    const struct ig_window *w = &pool->w;
    struct view v = {&call->in[0], 0, 0, 0, 0, w->dh, w->dw, 1};
    int32_t y0 = y * w->sh - w->top, x0 = x * w->sw - w->left, unused;
    v.rows = clip_taps(y0, w->kh, w->dh, v.in->h, &v.y);
    v.columns = clip_taps(x0, w->kw, w->dw, v.in->w, &v.x);
    v.divisor = (float)(v.rows * v.columns);
    if (pool->count_include_pad) { /* explicit padding counts: shift it into the image */
        int32_t rows = clip_taps(y0 + w->top, w->kh, w->dh, v.in->h + w->top + w->bottom - pool->ceil_h, &unused);
        int32_t columns = clip_taps(x0 + w->left, w->kw, w->dw, v.in->w + w->left + w->right - pool->ceil_w, &unused);
        v.divisor = (float)(rows * columns);
    }
    if (v.divisor < 1) v.divisor = 1;
    return v;
}

static inline __attribute__((always_inline)) __m256 combine(__m256 a, __m256 b, int max)
{
    return max ? _mm256_max_ps(a, b) : _mm256_add_ps(a, b);
}

static inline __attribute__((always_inline)) void pool_32(const struct view *v, int32_t c, float *out, int max)
{
    __m256 s0 = max ? _mm256_set1_ps(-__builtin_inff()) : _mm256_setzero_ps(), s1 = s0, s2 = s0, s3 = s0;
    int64_t step = v->dw * v->in->pixel_stride;
    for (int32_t i = 0; i < v->rows; i++) {
        const float *p = ig_row_f32(v->in, v->y + i * v->dh) + v->x * v->in->pixel_stride + c;
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

static inline __attribute__((always_inline)) void pool_8(const struct view *v, int32_t c, int32_t n, float *out, int max)
{
    __m256 s = max ? _mm256_set1_ps(-__builtin_inff()) : _mm256_setzero_ps();
    int64_t step = v->dw * v->in->pixel_stride;
    for (int32_t i = 0; i < v->rows; i++) {
        const float *p = ig_row_f32(v->in, v->y + i * v->dh) + v->x * v->in->pixel_stride + c;
        for (int32_t j = 0; j < v->columns; j++, p += step) s = combine(s, ig_load_upto8(p, n), max);
    }
    ig_store_upto8(out, max ? s : _mm256_div_ps(s, _mm256_set1_ps(v->divisor)), n);
}

static inline __attribute__((always_inline)) void pixel(const struct view *v, struct ig_range range, float *out,
                                                        int max)
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
    for (int32_t y = range.y0; y < range.y1; y++)
        for (int32_t x = 0; x < out->w; x++) {
            struct view v = view_of(call, y, x);
            float *p = ig_row_f32(out, y) + x * out->pixel_stride;
            if (max)
                pixel(&v, range, p, 1);
            else
                pixel(&v, range, p, 0);
        }
}
