/* Transposition of matrices of 4-byte elements in blocks of 8x8, for the permutations of common/permute.c. */
#include "kernels_cpu/avx2/kernels.h"
#include "kernels_cpu/avx2/vec.h"
#include "kernels_cpu/common/permute.h"

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

void transpose_b32_8x8__avx2(const struct ig_call *call, struct ig_range range, void *scratch)
{
    (void)scratch;
    ig_permute(call, range, transpose);
}
