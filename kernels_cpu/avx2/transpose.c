/* Transposition of matrices of 4-byte elements in blocks of 16x4, for the permutations of common/permute.c. */
#include "kernels_cpu/avx2/kernels.h"
#include "kernels_cpu/avx2/vec.h"
#include "kernels_cpu/common/permute.h"

enum { PIECE = 64 };

/* Four elements of eight rows: c[i] is element i of the rows. */
static inline void columns_of(const float *src, int64_t src_stride, __m256 c[4])
{
    __m256 r[4];
    for (int i = 0; i < 4; i++) { /* row i beside row i + 4 */
        const float *lo = src + i * src_stride, *hi = lo + 4 * src_stride;
        r[i] = _mm256_insertf128_ps(_mm256_castps128_ps256(_mm_loadu_ps(lo)), _mm_loadu_ps(hi), 1);
    }
    __m256 a = _mm256_unpacklo_ps(r[0], r[1]), b = _mm256_unpackhi_ps(r[0], r[1]);
    __m256 d = _mm256_unpacklo_ps(r[2], r[3]), e = _mm256_unpackhi_ps(r[2], r[3]);
    c[0] = _mm256_shuffle_ps(a, d, 0x44);
    c[1] = _mm256_shuffle_ps(a, d, 0xee);
    c[2] = _mm256_shuffle_ps(b, e, 0x44);
    c[3] = _mm256_shuffle_ps(b, e, 0xee);
}

static inline void block_8x4(const float *src, int64_t src_stride, float *dst, int64_t dst_stride)
{
    __m256 c[4];
    columns_of(src, src_stride, c);
    for (int i = 0; i < 4; i++) _mm256_storeu_ps(dst + i * dst_stride, c[i]);
}

/* A line of each of the output's rows at once, as these may lie so that they share a few sets of the cache. */
static inline void block_16x4(const float *src, int64_t src_stride, float *dst, int64_t dst_stride)
{
    __m256 c[4], d[4];
    columns_of(src, src_stride, c);
    columns_of(src + 8 * src_stride, src_stride, d);
    for (int i = 0; i < 4; i++) {
        _mm256_storeu_ps(dst + i * dst_stride, c[i]);
        _mm256_storeu_ps(dst + i * dst_stride + 8, d[i]);
    }
}

static void scalar(const float *src, int64_t src_stride, float *dst, int64_t dst_stride, int64_t rows, int64_t n)
{
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < rows; j++) dst[i * dst_stride + j] = src[j * src_stride + i];
}

/* Lanes of a, b, c: of b those of `mb`, of c those of `mc`, of a the rest. */
#define MIX(a, b, c, mb, mc) _mm256_blend_ps(_mm256_blend_ps(a, b, mb), c, mc)

/*
 * Three rows become pixels, eight at a time. A vector of the output takes every third lane of each row's; one order
 * of a row's eight elements has them in their lanes for all three vectors.
 */
static int64_t three_to_pixels(const float *src, int64_t src_stride, float *dst, int64_t n)
{
    const __m256i of_r = _mm256_setr_epi32(0, 3, 6, 1, 4, 7, 2, 5), of_g = _mm256_setr_epi32(5, 0, 3, 6, 1, 4, 7, 2);
    const __m256i of_b = _mm256_setr_epi32(2, 5, 0, 3, 6, 1, 4, 7);
    int64_t i = 0;
    for (; i + 8 <= n; i += 8) {
        __m256 r = _mm256_permutevar8x32_ps(_mm256_loadu_ps(src + i), of_r);
        __m256 g = _mm256_permutevar8x32_ps(_mm256_loadu_ps(src + src_stride + i), of_g);
        __m256 b = _mm256_permutevar8x32_ps(_mm256_loadu_ps(src + 2 * src_stride + i), of_b);
        _mm256_storeu_ps(dst + 3 * i, MIX(r, g, b, 0x92, 0x24));
        _mm256_storeu_ps(dst + 3 * i + 8, MIX(r, g, b, 0x24, 0x49));
        _mm256_storeu_ps(dst + 3 * i + 16, MIX(r, g, b, 0x49, 0x92));
    }
    return i;
}

/* And back: eight pixels of three elements become as many of three rows. */
static int64_t three_to_rows(const float *src, float *dst, int64_t dst_stride, int64_t pixels)
{
    const __m256i of_r = _mm256_setr_epi32(0, 3, 6, 1, 4, 7, 2, 5), of_g = _mm256_setr_epi32(1, 4, 7, 2, 5, 0, 3, 6);
    const __m256i of_b = _mm256_setr_epi32(2, 5, 0, 3, 6, 1, 4, 7);
    int64_t j = 0;
    for (; j + 8 <= pixels; j += 8) {
        __m256 a = _mm256_loadu_ps(src + 3 * j), b = _mm256_loadu_ps(src + 3 * j + 8);
        __m256 c = _mm256_loadu_ps(src + 3 * j + 16);
        _mm256_storeu_ps(dst + j, _mm256_permutevar8x32_ps(MIX(a, b, c, 0x92, 0x24), of_r));
        _mm256_storeu_ps(dst + dst_stride + j, _mm256_permutevar8x32_ps(MIX(a, b, c, 0x24, 0x49), of_g));
        _mm256_storeu_ps(dst + 2 * dst_stride + j, _mm256_permutevar8x32_ps(MIX(a, b, c, 0x49, 0x92), of_b));
    }
    return j;
}

/* Four rows become pixels. */
static int64_t four_to_pixels(const float *src, int64_t src_stride, float *dst, int64_t n)
{
    int64_t i = 0;
    for (; i + 4 <= n; i += 4) {
        __m128 a = _mm_loadu_ps(src + i), b = _mm_loadu_ps(src + src_stride + i);
        __m128 c = _mm_loadu_ps(src + 2 * src_stride + i), d = _mm_loadu_ps(src + 3 * src_stride + i);
        _MM_TRANSPOSE4_PS(a, b, c, d);
        _mm_storeu_ps(dst + 4 * i, a);
        _mm_storeu_ps(dst + 4 * i + 4, b);
        _mm_storeu_ps(dst + 4 * i + 8, c);
        _mm_storeu_ps(dst + 4 * i + 12, d);
    }
    return i;
}

/*
 * Of eight rows or more, four elements or more each; the last blocks of a side overlap those before. A piece of the
 * rows at a time, so that their lines and pages are still near when their next four elements are read.
 */
static void blocks(const float *src, int64_t src_stride, float *dst, int64_t dst_stride, int64_t rows, int64_t n)
{
    for (int64_t from = 0; from < rows; from += PIECE) {
        int64_t to = from + PIECE < rows ? from + PIECE : rows;
        for (int64_t k = 0; k < n; k += 4) {
            int64_t i = k + 4 <= n ? k : n - 4, j = from;
            const float *p = src + i;
            float *q = dst + i * dst_stride;
            for (; j + 16 <= to; j += 16) block_16x4(p + j * src_stride, src_stride, q + j, dst_stride);
            for (; j < to; j += 8) {
                int64_t at = j + 8 <= to ? j : to - 8;
                block_8x4(p + at * src_stride, src_stride, q + at, dst_stride);
            }
        }
    }
}

/* dst[i][j] = src[j][i]: `rows` rows of n contiguous elements. */
void ig_transpose_b32_avx2(const void *from, int64_t src_stride, void *to, int64_t dst_stride, int64_t rows, int64_t n)
{
    const float *src = (const float *)from;
    float *dst = (float *)to;
    int64_t i = 0, j = 0;
    if (rows >= 8 && n >= 4) {
        blocks(src, src_stride, dst, dst_stride, rows, n);
        return;
    }
    if (rows == 3 && dst_stride == 3) i = three_to_pixels(src, src_stride, dst, n);
    if (rows == 4 && dst_stride == 4) i = four_to_pixels(src, src_stride, dst, n);
    if (n == 3 && src_stride == 3) j = three_to_rows(src, dst, dst_stride, rows);
    scalar(src + j * src_stride + i, src_stride, dst + i * dst_stride + j, dst_stride, rows - j, n - i);
}

void transpose_b32_8x8__avx2(const struct ig_call *call, struct ig_range range, void *scratch)
{
    (void)scratch;
    ig_permute(call, range, 4, ig_transpose_b32_avx2);
}
