/*
 * Permutation of dense tensors of 4-byte elements. A permutation moves the input's contiguous dim ("lines") somewhere
 * in the output; what is left is copying rows, or many 2-D transposes, in blocks of 8x8:
 *   the last stays the last              rows are copied
 *   it becomes the output's w            [C,W] -> [W,C] per output row: NCHW -> NHWC
 *   it becomes the last of the h dims    [W,C] -> [C,W] over several output rows: NHWC -> NCHW
 *   elsewhere                            element by element
 */
#include <string.h>

#include "kernels_cpu/avx2/kernels.h"
#include "kernels_cpu/avx2/vec.h"

struct permutation {
    int32_t rank, at;                /* at: the output dim that the input's last dim becomes */
    int64_t dims[IG_MAX_RANK];       /* of the output, at least two */
    int64_t stride[IG_MAX_RANK];     /* elements of the input per step of that output dim */
    int64_t w, c, w_stride, c_stride;
    const float *src;
    float *dst;
};

static struct permutation permutation_of(const struct ig_call *call)
{
    const int32_t *perm = ((const struct ig_transpose *)call->attrs)->perm;
    const struct ig_shape *in = call->in[0].shape;
    struct permutation p = {.rank = in->rank, .at = 0, .w = 1, .c = 1};
    int64_t strides[IG_MAX_RANK], n = 1;
    for (int32_t i = in->rank - 1; i >= 0; n *= in->dims[i], i--) strides[i] = n;
    for (int32_t i = 0; i < in->rank; i++) {
        p.dims[i] = in->dims[perm[i]];
        p.stride[i] = strides[perm[i]];
        if (perm[i] == in->rank - 1) p.at = i;
    }
    if (p.rank > 0) {
        p.c = p.dims[p.rank - 1];
        p.c_stride = p.stride[p.rank - 1];
    }
    if (p.rank > 2) {
        p.w = p.dims[p.rank - 2];
        p.w_stride = p.stride[p.rank - 2];
    }
    p.src = (const float *)call->in[0].data;
    p.dst = (float *)call->out[0].data;
    return p;
}

/* Dims that make up the rows: all but w and c; of [M,N] M. */
static int32_t row_dims(const struct permutation *p)
{
    return p->rank > 2 ? p->rank - 2 : p->rank - 1;
}

/* Element of the input that output row y starts with. */
static const float *start_of(const struct permutation *p, int64_t y)
{
    int64_t at = 0;
    for (int32_t i = row_dims(p) - 1; i >= 0; y /= p->dims[i], i--) at += y % p->dims[i] * p->stride[i];
    return p->src + at;
}

static void block_8x8(const float *src, int64_t src_stride, float *dst, int64_t dst_stride)
{
    __m256 r[8], t[8];
    for (int i = 0; i < 4; i++) { /* row i beside row i + 4 */
        const float *lo = src + i * src_stride, *hi = src + (i + 4) * src_stride;
        r[i] = _mm256_insertf128_ps(_mm256_castps128_ps256(_mm_loadu_ps(lo)), _mm_loadu_ps(hi), 1);
        r[i + 4] = _mm256_insertf128_ps(_mm256_castps128_ps256(_mm_loadu_ps(lo + 4)), _mm_loadu_ps(hi + 4), 1);
    }
    for (int i = 0; i < 8; i += 4) {
        t[i] = _mm256_unpacklo_ps(r[i], r[i + 1]);
        t[i + 1] = _mm256_unpackhi_ps(r[i], r[i + 1]);
        t[i + 2] = _mm256_unpacklo_ps(r[i + 2], r[i + 3]);
        t[i + 3] = _mm256_unpackhi_ps(r[i + 2], r[i + 3]);
    }
    for (int i = 0; i < 8; i += 4) {
        _mm256_storeu_ps(dst + i * dst_stride, _mm256_shuffle_ps(t[i], t[i + 2], 0x44));
        _mm256_storeu_ps(dst + (i + 1) * dst_stride, _mm256_shuffle_ps(t[i], t[i + 2], 0xee));
        _mm256_storeu_ps(dst + (i + 2) * dst_stride, _mm256_shuffle_ps(t[i + 1], t[i + 3], 0x44));
        _mm256_storeu_ps(dst + (i + 3) * dst_stride, _mm256_shuffle_ps(t[i + 1], t[i + 3], 0xee));
    }
}

static void scalar(const float *src, int64_t src_stride, float *dst, int64_t dst_stride, int64_t rows, int64_t n)
{
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < rows; j++) dst[i * dst_stride + j] = src[j * src_stride + i];
}

/* Three or four rows become pixels: four at a time, where the fourth float is the next pixel's to overwrite. */
static int64_t pixels(const float *src, int64_t src_stride, float *dst, int64_t rows, int64_t n)
{
    int64_t i = 0;
    for (; i + 5 <= n; i += 4) {
        __m128 a = _mm_loadu_ps(src + i), b = _mm_loadu_ps(src + src_stride + i);
        __m128 c = _mm_loadu_ps(src + 2 * src_stride + i), d = _mm_loadu_ps(src + (rows - 1) * src_stride + i);
        _MM_TRANSPOSE4_PS(a, b, c, d);
        _mm_storeu_ps(dst + i * rows, a);
        _mm_storeu_ps(dst + (i + 1) * rows, b);
        _mm_storeu_ps(dst + (i + 2) * rows, c);
        _mm_storeu_ps(dst + (i + 3) * rows, d);
    }
    return i;
}

/* dst[i][j] = src[j][i]: `rows` rows of n contiguous elements. */
static void transpose(const float *src, int64_t src_stride, float *dst, int64_t dst_stride, int64_t rows, int64_t n)
{
    int64_t i = 0, j = 0;
    if ((rows == 3 || rows == 4) && dst_stride == rows) {
        i = pixels(src, src_stride, dst, rows, n);
        scalar(src + i, src_stride, dst + i * dst_stride, dst_stride, rows, n - i);
        return;
    }
    for (; j + 8 <= rows; j += 8) {
        for (i = 0; i + 8 <= n; i += 8)
            block_8x8(src + j * src_stride + i, src_stride, dst + i * dst_stride + j, dst_stride);
        scalar(src + j * src_stride + i, src_stride, dst + i * dst_stride + j, dst_stride, 8, n - i);
    }
    scalar(src + j * src_stride, src_stride, dst + j, dst_stride, rows - j, n);
}

static void copy_rows(const struct permutation *p, int64_t y)
{
    const float *src = start_of(p, y);
    float *dst = p->dst + y * p->w * p->c;
    for (int64_t x = 0; x < p->w; x++) memcpy(dst + x * p->c, src + x * p->w_stride, (size_t)p->c * sizeof *dst);
}

/* Output rows [y, end) which differ in the input's contiguous dim only. */
static void across_rows(const struct permutation *p, int64_t y, int64_t end)
{
    const float *src = start_of(p, y);
    int64_t row = p->w * p->c;
    if (p->w_stride == p->c * p->c_stride || p->w == 1) {
        transpose(src, p->c_stride, p->dst + y * row, row, row, end - y);
        return;
    }
    for (int64_t x = 0; x < p->w; x++)
        transpose(src + x * p->w_stride, p->c_stride, p->dst + y * row + x * p->c, row, p->c, end - y);
}

static void element_by_element(const struct permutation *p, int64_t y)
{
    const float *src = start_of(p, y);
    float *dst = p->dst + y * p->w * p->c;
    for (int64_t x = 0; x < p->w; x++)
        for (int64_t c = 0; c < p->c; c++) *dst++ = src[x * p->w_stride + c * p->c_stride];
}

void transpose_b32_8x8__avx2(const struct ig_call *call, struct ig_range range, void *scratch)
{
    struct permutation p = permutation_of(call);
    int32_t last = row_dims(&p) - 1;
    (void)scratch;
    for (int64_t y = range.y0; y < range.y1;) {
        int64_t end = y + 1;
        if (p.at == p.rank - 1) {
            copy_rows(&p, y);
        } else if (p.at == last) {
            int64_t line = p.dims[last];
            end = y - y % line + line < range.y1 ? y - y % line + line : range.y1;
            across_rows(&p, y, end);
        } else if (p.at == p.rank - 2) {
            transpose(start_of(&p, y), p.c_stride, p.dst + y * p.w * p.c, p.c, p.c, p.w);
        } else {
            element_by_element(&p, y);
        }
        y = end;
    }
}
