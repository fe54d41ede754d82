/*
 * Resize of the image's rows and columns, channels in vectors of 8.
 *   nearest by a whole factor: out[y][x] = in[y / k][x / k]
 *   linear: the four pixels around (sy, sx), sx = (x + 1/2)/scale - 1/2 or another of ONNX's maps; pixels outside the
 *           image are the nearest inside. First along x, then along y; of a tile of outputs the rows that came out of
 *           the first are kept for all output rows between them.
 */
#include <string.h>

#include "kernels_cpu/avx2/kernels.h"
#include "kernels_cpu/avx2/vec.h"
#include "kernels_cpu/common/resize.h"

enum { TILE = 28, GROUP = 64 }; /* outputs across, channels */

void resize_f32_nearest__avx2(const struct ig_call *call, struct ig_range range, void *scratch)
{
    (void)scratch;
    ig_resize_nearest(call, range, sizeof(float));
}

void resize_b16_nearest__avx2(const struct ig_call *call, struct ig_range range, void *scratch)
{
    (void)scratch;
    ig_resize_nearest(call, range, sizeof(uint16_t));
}

void resize_b8_nearest__avx2(const struct ig_call *call, struct ig_range range, void *scratch)
{
    (void)scratch;
    ig_resize_nearest(call, range, 1);
}

struct columns {             /* of a tile's outputs: floats to their two pixels, and the weight of the second */
    int64_t lo[TILE], hi[TILE];
    float weight[TILE];
};

static void columns_of(const struct ig_operand *in, const struct ig_resize_dim *d, int32_t x0, int32_t n,
                       struct columns *c)
{
    for (int32_t i = 0; i < n; i++) {
        struct ig_between b = ig_resize_between(d, x0 + i);
        c->lo[i] = b.lo * in->pixel_stride;
        c->hi[i] = b.hi * in->pixel_stride;
        c->weight[i] = b.weight;
    }
}

/* A row of the input at the columns of `pixels` outputs, n channels each, `step` floats apart; and up to 7 more. */
static void across(const float *row, const struct columns *at, int32_t pixels, int32_t n, float *y, int64_t step)
{
    for (int32_t x = 0; x < pixels; x++, y += step) {
        const float *a = row + at->lo[x], *b = row + at->hi[x];
        __m256 x1 = _mm256_broadcast_ss(&at->weight[x]), x0 = _mm256_sub_ps(_mm256_set1_ps(1), x1);
        int32_t i = 0;
        for (; i + 8 <= n; i += 8) {
            __m256 left = _mm256_mul_ps(_mm256_loadu_ps(a + i), x0);
            _mm256_storeu_ps(y + i, _mm256_fmadd_ps(_mm256_loadu_ps(b + i), x1, left));
        }
        if (i == n) continue;
        __m256 left = _mm256_mul_ps(ig_load_upto8(a + i, n - i), x0);
        _mm256_storeu_ps(y + i, _mm256_fmadd_ps(ig_load_upto8(b + i, n - i), x1, left));
    }
}

/* n floats between two rows. */
static inline void down(const float *upper, const float *lower, __m256 y0, __m256 y1, int64_t n, float *y)
{
    int64_t i = 0;
    for (; i + 8 <= n; i += 8) {
        __m256 first = _mm256_mul_ps(_mm256_loadu_ps(upper + i), y0);
        _mm256_storeu_ps(y + i, _mm256_fmadd_ps(_mm256_loadu_ps(lower + i), y1, first));
    }
    if (i == n) return;
    __m256 first = _mm256_mul_ps(_mm256_loadu_ps(upper + i), y0);
    ig_store_part(y + i, _mm256_fmadd_ps(_mm256_loadu_ps(lower + i), y1, first), n - i);
}

/*
 * The range's rows and channels of `pixels` outputs from x0 on. The rows that an output row lies between serve the next
 * ones. They have the gaps between pixels that the output has, or more: none makes a tile's row one run.
 */
static void tile(const struct ig_call *call, struct ig_range range, const struct ig_resize_dim *rows,
                 const struct columns *at, int32_t x0, int32_t pixels)
{
    _Alignas(64) float kept[2][TILE * GROUP + 8];
    const struct ig_operand *in = &call->in[0], *out = &call->out[0];
    int32_t n = range.c1 - range.c0, holds[2] = {-1, -1}, dense = out->pixel_stride == n;
    int32_t step = dense ? n : GROUP, runs = dense ? 1 : pixels, run = dense ? pixels * n : n;
    for (int32_t y = range.y0; y < range.y1; y++) {
        struct ig_between v = ig_resize_between(rows, y);
        for (int32_t row = v.lo; row <= v.hi; row++) {
            if (holds[row & 1] == row) continue;
            across(ig_row_f32(in, row) + range.c0, at, pixels, n, kept[row & 1], step);
            holds[row & 1] = row;
        }
        __m256 y1 = _mm256_set1_ps(v.weight), y0 = _mm256_set1_ps(1 - v.weight);
        float *to = ig_row_f32(out, y) + x0 * out->pixel_stride + range.c0;
        for (int32_t i = 0; i < runs; i++)
            down(kept[v.lo & 1] + i * step, kept[v.hi & 1] + i * step, y0, y1, run, to + i * out->pixel_stride);
    }
}

void resize_f32_linear__avx2(const struct ig_call *call, struct ig_range range, void *scratch)
{
    const struct ig_resize *r = (const struct ig_resize *)call->attrs;
    const struct ig_operand *in = &call->in[0], *out = &call->out[0];
    struct ig_resize_dim rows = ig_resize_dim_of(r->coord, in->h, out->h, r->scale[1]);
    struct ig_resize_dim columns = ig_resize_dim_of(r->coord, in->w, out->w, r->scale[2]);
    struct columns at;
    (void)scratch;
    for (int32_t x = 0; x < out->w; x += TILE) {
        int32_t pixels = out->w - x < TILE ? out->w - x : TILE;
        columns_of(in, &columns, x, pixels, &at);
        for (int32_t c = range.c0; c < range.c1; c += GROUP) {
            int32_t end = c + GROUP < range.c1 ? c + GROUP : range.c1;
            tile(call, (struct ig_range){range.y0, range.y1, c, end}, &rows, &at, x, pixels);
        }
    }
}
