/*
 * Global pooling, maximum and average. Reading straight on is what counts, by one of two orders which the image's extents
 * choose, not the range, so that the bits do not depend on it:
 *   few pixels of many channels   (averages) two pixels at a time onto the output, which stays in the first-level cache
 *   else                          row after row, and of a row 64 channels (8 accumulators) at a time, then 32, then 8. A
 *                                 channel's sum is made of the sums of its rows, in order: short chains
 */
#include "kernels_cpu/avx2/kernels.h"
#include "kernels_cpu/avx2/vec.h"

#define INLINE static inline __attribute__((always_inline))
#define UNROLL _Pragma("GCC unroll 8")

enum { MANY = 256, MOST = 4096, FEW_PIXELS = 256 };

INLINE __m256 combine(__m256 a, __m256 b, int max)
{
    return max ? _mm256_max_ps(a, b) : _mm256_add_ps(a, b);
}

INLINE __m256 finish(__m256 sum, const struct ig_operand *in, int max)
{
    return max ? sum : _mm256_mul_ps(sum, _mm256_set1_ps(1 / (float)((int64_t)in->h * in->w)));
}

/* Row y of the image into nv vectors of the output, which holds the rows before; n channels of the last are there. */
INLINE void add_row(const struct ig_operand *in, int32_t y, int32_t c, int32_t n, int nv, float *out, int max)
{
    __m256 none = max ? _mm256_set1_ps(-__builtin_inff()) : _mm256_setzero_ps(), row[8];
    UNROLL for (int v = 0; v < nv; v++) row[v] = none;
    const float *p = ig_row_f32(in, y) + c;
    for (int32_t x = 0; x < in->w; x++, p += in->pixel_stride)
        UNROLL for (int v = 0; v < nv; v++) row[v] = combine(row[v], ig_load_upto8(p + 8 * v, n), max);
    UNROLL for (int v = 0; v < nv; v++)
    {
        __m256 sum = combine(y ? ig_load_upto8(out + 8 * v, n) : none, row[v], max);
        ig_store_upto8(out + 8 * v, y + 1 < in->h ? sum : finish(sum, in, max), n);
    }
}

INLINE void channels(const struct ig_operand *in, struct ig_range range, float *out, int max)
{
    for (int32_t y = 0; y < in->h; y++) {
        int32_t c = range.c0;
        for (; c + 64 <= range.c1; c += 64) add_row(in, y, c, 8, 8, out + c, max);
        for (; c + 32 <= range.c1; c += 32) add_row(in, y, c, 8, 4, out + c, max);
        for (; c < range.c1; c += 8) add_row(in, y, c, range.c1 - c, 1, out + c, max);
    }
}

static const float *pixel(const struct ig_operand *in, int32_t i)
{
    return ig_row_f32(in, i / in->w) + i % in->w * in->pixel_stride;
}

/* n channels of some pixels onto those of `out`: two, or with `third` the first three; `last`: nothing comes after. */
INLINE void add_some(const struct ig_operand *in, const float *const p[3], int third, int first, int last, int32_t n,
                     float *out, int max)
{
    __m256 two = combine(ig_load_upto8(p[0], n), ig_load_upto8(p[1], n), max);
    if (third) two = combine(two, ig_load_upto8(p[2], n), max);
    if (!first) two = combine(ig_load_upto8(out, n), two, max);
    ig_store_upto8(out, last ? finish(two, in, max) : two, n);
}

INLINE void add_pixels(const struct ig_operand *in, int32_t i, int third, int first, int last, struct ig_range range,
                       float *out, int max)
{
    const float *p = pixel(in, i), *q = pixel(in, i + 1), *r = third ? pixel(in, i + 2) : p;
    int32_t c = range.c0;
    for (; c + 16 <= range.c1; c += 16)
        UNROLL for (int v = 0; v < 16; v += 8)
            add_some(in, (const float *[]){p + c + v, q + c + v, r + c + v}, third, first, last, 8, out + c + v, max);
    for (; c < range.c1; c += 8)
        add_some(in, (const float *[]){p + c, q + c, r + c}, third, first, last, range.c1 - c, out + c, max);
}

/* The first or last pixels: once in the code. */
static __attribute__((noinline)) void add_ends(const struct ig_operand *in, int32_t i, int third, int first,
                                               struct ig_range range, float *out)
{
    add_pixels(in, i, third, first, !first, range, out, 0);
}

/* Four or more. */
INLINE void pixels(const struct ig_operand *in, struct ig_range range, float *out)
{
    int32_t n = in->h * in->w, i = 2 + n % 2;
    add_ends(in, 0, n % 2, 1, range, out);
    for (; i + 2 < n; i += 2) add_pixels(in, i, 0, 0, 0, range, out, 0);
    add_ends(in, i, 0, 0, range, out);
}

static void average(const struct ig_operand *in, struct ig_range range, float *out)
{
    int32_t n = in->h * in->w;
    if (in->c >= MANY && in->c <= MOST && n > 3 && n <= FEW_PIXELS) pixels(in, range, out);
    else channels(in, range, out, 0);
}

void global_pool_f32_8__avx2(const struct ig_call *call, struct ig_range range, void *scratch)
{
    (void)scratch;
    if (range.y0 == range.y1) return;
    float *out = ig_row_f32(&call->out[0], 0);
    if (((const struct ig_global_pool *)call->attrs)->kind == IG_POOL_MAX) channels(&call->in[0], range, out, 1);
    else average(&call->in[0], range, out);
}
