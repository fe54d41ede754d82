/*
 * Global pooling, maximum and average: row after row, and of a row 32 channels (4 accumulators) at a time, then 8, so
 * that the reading goes straight on through all pixels of a row. A channel's sum is made of the sums of its rows, in
 * order: short chains, and the same bits however the channels are cut.
 */
#include "kernels_cpu/avx2/kernels.h"
#include "kernels_cpu/avx2/vec.h"

#define INLINE static inline __attribute__((always_inline))
#define UNROLL _Pragma("GCC unroll 4")

INLINE __m256 combine(__m256 a, __m256 b, int max)
{
    return max ? _mm256_max_ps(a, b) : _mm256_add_ps(a, b);
}

INLINE __m256 finish(__m256 sum, const struct ig_operand *in, int max)
{
    return max ? sum : _mm256_div_ps(sum, _mm256_set1_ps((float)((int64_t)in->h * in->w)));
}

/* Row y of the image into nv vectors of the output, which holds the rows before; n channels of the last are there. */
INLINE void add_row(const struct ig_operand *in, int32_t y, int32_t c, int32_t n, int nv, float *out, int max)
{
    __m256 none = max ? _mm256_set1_ps(-__builtin_inff()) : _mm256_setzero_ps(), row[4] = {none, none, none, none};
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
        for (; c + 32 <= range.c1; c += 32) add_row(in, y, c, 8, 4, out + c, max);
        for (; c < range.c1; c += 8) add_row(in, y, c, range.c1 - c, 1, out + c, max);
    }
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
