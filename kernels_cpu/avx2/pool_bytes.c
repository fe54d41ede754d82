/*
 * Maximum pooling of bytes, common/pool_bytes.inc; windows of three columns and three rows at most slide along a row: a column's maximum is made
 * once for all outputs that it is in.
 */
#include <immintrin.h>

#include "kernels_cpu/common/pool.h"
#include "kernels_cpu/avx2/kernels.h"

enum { WIDE = 32 };

#define INLINE static inline __attribute__((always_inline))

INLINE __m256i most_of(__m256i a, __m256i b, const int flip)
{
    return flip ? _mm256_max_epi8(a, b) : _mm256_max_epu8(a, b);
}

INLINE void wide(const struct ig_pool_view *v, int32_t c, uint8_t *out, const int flip)
{
    __m256i most = flip ? _mm256_set1_epi8(-128) : _mm256_setzero_si256();
    for (int32_t i = 0; i < v->rows; i++) {
        const uint8_t *p = (const uint8_t *)ig_row(v->in, v->y + i * v->dh, 1) + v->x * v->in->pixel_stride + c;
        for (int32_t j = 0; j < v->columns; j++, p += v->dw * v->in->pixel_stride) most = most_of(most, _mm256_loadu_si256((const __m256i *)p), flip);
    }
    _mm256_storeu_si256((__m256i *)out, most);
}

#include "kernels_cpu/common/pool_bytes.inc"

enum { SIDE = 3 };

struct rows {
    const uint8_t *at[SIDE];     /* those of the image in a window, some more than once */
    int64_t step;                /* bytes from a pixel to the next */
    int32_t n;                   /* pixels; 0: there is no such row */
};

/* Column x of the window; beyond the image the least. */
INLINE __m256i column(const struct rows *r, int32_t x, int32_t c, const int flip)
{
    if (x < 0 || x >= r->n) return flip ? _mm256_set1_epi8(-128) : _mm256_setzero_si256();
    const int64_t at = x * r->step + c;
    const __m256i first = _mm256_loadu_si256((const __m256i *)(r->at[0] + at)), second = _mm256_loadu_si256((const __m256i *)(r->at[1] + at));
    return most_of(most_of(first, second, flip), _mm256_loadu_si256((const __m256i *)(r->at[2] + at)), flip);
}

/* n outputs of a row, one or two times WIDE channels from c on. Columns in the last window: x - 1 and x. */
INLINE void slide(const struct rows *r, const struct ig_window *w, int32_t c, uint8_t *out, int64_t step, int32_t n, const int flip, const int wides)
{
    int32_t x = -w->left + SIDE - 1 - w->sw;
    __m256i before[2], last[2];
#pragma GCC unroll 2
    for (int k = 0; k < wides; k++) before[k] = column(r, x - 1, c + WIDE * k, flip), last[k] = column(r, x, c + WIDE * k, flip);
    for (int32_t i = 0; i < n; i++, out += step) {
        x += w->sw;
#pragma GCC unroll 2
        for (int k = 0; k < wides; k++) {
            const __m256i first = w->sw == 1 ? before[k] : last[k];
            before[k] = w->sw == 1 ? last[k] : column(r, x - 1, c + WIDE * k, flip);
            last[k] = column(r, x, c + WIDE * k, flip);
            _mm256_storeu_si256((__m256i *)(out + c + WIDE * k), most_of(most_of(first, before[k], flip), last[k], flip));
        }
    }
}

INLINE void slide_row(const struct rows *r, const struct ig_window *w, struct ig_range range, uint8_t *out, int64_t step, int32_t n, const int flip)
{
    int32_t c = range.c0;
    for (; c + 2 * WIDE <= range.c1; c += 2 * WIDE) slide(r, w, c, out, step, n, flip, 2);
    if (c < range.c1) slide(r, w, c, out, step, n, flip, 1);
}

static void slide_rows(const struct ig_call *call, struct ig_range range)
{
    const struct ig_operand *in = &call->in[0], *o = &call->out[0];
    const struct ig_window *w = &((const struct ig_pool *)call->attrs)->w;
    for (int32_t y = range.y0; y < range.y1; y++) {
        const struct ig_pool_view v = ig_pool_view_of(call, y, 0);
        struct rows r = {.step = in->pixel_stride, .n = v.rows ? in->w : 0};
        for (int i = 0; i < SIDE; i++) r.at[i] = (const uint8_t *)ig_row(in, v.y + (i < v.rows ? i : 0) * v.dh, 1);
        if (o->shape->type == IG_I8) slide_row(&r, w, range, (uint8_t *)ig_row(o, y, 1), o->pixel_stride, o->w, 128);
        else slide_row(&r, w, range, (uint8_t *)ig_row(o, y, 1), o->pixel_stride, o->w, 0);
    }
}

static int slides(const struct ig_call *call)
{
    const struct ig_window *w = &((const struct ig_pool *)call->attrs)->w;
    return w->kw == SIDE && w->kh <= SIDE && w->sw <= 2 && w->dw == 1;
}

void pool_i8_32__avx2(const struct ig_call *call, struct ig_range range, void *scratch)
{
    struct ig_range some = range;
    (void)scratch;
    if (slides(call)) {
        some.c0 = some.c1 = range.c0 + (range.c1 - range.c0) / WIDE * WIDE;
        slide_rows(call, (struct ig_range){range.y0, range.y1, range.c0, some.c0});
        some.c1 = range.c1;
    }
    pool_bytes(call, some);
}
