#include "kernels_cpu/common/cumsum.h"

#include <string.h>

#include "kernels_cpu/ref/walk.h"

#define INLINE static inline __attribute__((always_inline))

enum { WIDTH = 16 }; /* lines side by side, whose sums stay in the first-level cache */

/* `width` lines of n elements, each `step` floats behind the one before; step < 0: from the far end. */
INLINE void lines(const float *x, float *y, int64_t n, int64_t step, int32_t width, const int exclusive)
{
    double sum[WIDTH];
    for (int32_t k = 0; k < width; k++) sum[k] = 0;
    for (int64_t i = 0; i < n; i++, x += step, y += step) {
        float v[WIDTH]; /* no alias of either, so that lines are lanes */
        memcpy(v, x, (size_t)width * sizeof *v);
        for (int32_t k = 0; k < width; k++) {
            const double next = sum[k] + (double)v[k];
            v[k] = (float)(exclusive ? sum[k] : next);
            sum[k] = next;
        }
        memcpy(y, v, (size_t)width * sizeof *v);
    }
}

static void some(const struct ig_call *call, const struct ig_lines *l, int64_t first, int32_t width)
{
    const struct ig_cumsum *a = (const struct ig_cumsum *)call->attrs;
    const int64_t from = first + (a->reverse ? (l->n - 1) * l->inner : 0), step = a->reverse ? -l->inner : l->inner;
    const float *x = (const float *)call->in[0].data + from;
    float *y = (float *)call->out[0].data + from;
    if (width == WIDTH && !a->exclusive) lines(x, y, l->n, step, WIDTH, 0);
    else if (width == 1 && !a->exclusive) lines(x, y, l->n, step, 1, 0);
    else if (a->exclusive) lines(x, y, l->n, step, width, 1);
    else lines(x, y, l->n, step, width, 0);
}

void ig_cumsum_rows(const struct ig_call *call, struct ig_range range)
{
    const struct ig_lines l = ig_lines_of(call->in[0].shape, ((const struct ig_cumsum *)call->attrs)->axis);
    const int64_t w = call->out[0].w;
    for (int64_t i = range.y0 * w; i < range.y1 * w; i++) some(call, &l, i * l.n, 1);
}

void ig_cumsum_across(const struct ig_call *call, struct ig_range range)
{
    const struct ig_lines l = ig_lines_of(call->in[0].shape, ((const struct ig_cumsum *)call->attrs)->axis);
    const int64_t c = call->out[0].c;
    for (int64_t o = 0; o < l.outer; o++)
        for (int64_t pixel = 0; pixel < l.inner; pixel += c)
            for (int32_t k = range.c0; k < range.c1; k += WIDTH)
                some(call, &l, o * l.n * l.inner + pixel + k, range.c1 - k < WIDTH ? range.c1 - k : WIDTH);
}
