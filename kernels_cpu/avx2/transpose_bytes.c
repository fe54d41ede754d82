/* Transposition of matrices of bytes, for the permutations of common/permute.c. */
#include <immintrin.h>

#include "kernels_cpu/avx2/kernels.h"
#include "kernels_cpu/common/permute.h"

static inline __m128i load8(const uint8_t *p)
{
    return _mm_loadl_epi64((const __m128i *)p);
}

/* Two rows of the output, the lower and the upper half of v. */
static inline void store8(uint8_t *p, int64_t stride, __m128i v)
{
    _mm_storel_epi64((__m128i *)p, v);
    _mm_storel_epi64((__m128i *)(p + stride), _mm_unpackhi_epi64(v, v));
}

static inline void block_8x8(const uint8_t *src, int64_t s, uint8_t *dst, int64_t d)
{
    __m128i a = _mm_unpacklo_epi8(load8(src), load8(src + s)), b = _mm_unpacklo_epi8(load8(src + 2 * s), load8(src + 3 * s));
    __m128i c = _mm_unpacklo_epi8(load8(src + 4 * s), load8(src + 5 * s)), e = _mm_unpacklo_epi8(load8(src + 6 * s), load8(src + 7 * s));
    __m128i ab = _mm_unpacklo_epi16(a, b), ab_high = _mm_unpackhi_epi16(a, b), ce = _mm_unpacklo_epi16(c, e), ce_high = _mm_unpackhi_epi16(c, e);
    store8(dst, d, _mm_unpacklo_epi32(ab, ce));
    store8(dst + 2 * d, d, _mm_unpackhi_epi32(ab, ce));
    store8(dst + 4 * d, d, _mm_unpacklo_epi32(ab_high, ce_high));
    store8(dst + 6 * d, d, _mm_unpackhi_epi32(ab_high, ce_high));
}

/* Which bytes of a row are in sixteen bytes of pixels of three: byte 3 i + c is row c's byte i. */
static __m128i to_pixels(int piece, int row)
{
    int8_t at[16];
    for (int i = 0; i < 16; i++) at[i] = (int8_t)((16 * piece + i) % 3 == row ? (16 * piece + i) / 3 : -1);
    return _mm_loadu_si128((const __m128i *)at);
}

/* Three rows become pixels, sixteen at a time. */
static int64_t three_to_pixels(const uint8_t *src, int64_t stride, uint8_t *dst, int64_t n)
{
    __m128i at[3][3];
    int64_t i = 0;
    for (int piece = 0; piece < 3; piece++)
        for (int row = 0; row < 3; row++) at[piece][row] = to_pixels(piece, row);
    for (; i + 16 <= n; i += 16) {
        const __m128i r = _mm_loadu_si128((const __m128i *)(src + i)), g = _mm_loadu_si128((const __m128i *)(src + stride + i));
        const __m128i b = _mm_loadu_si128((const __m128i *)(src + 2 * stride + i));
        for (int piece = 0; piece < 3; piece++) {
            __m128i v = _mm_or_si128(_mm_shuffle_epi8(r, at[piece][0]), _mm_shuffle_epi8(g, at[piece][1]));
            _mm_storeu_si128((__m128i *)(dst + 3 * i + 16 * piece), _mm_or_si128(v, _mm_shuffle_epi8(b, at[piece][2])));
        }
    }
    return i;
}

#include "kernels_cpu/common/transpose_bytes.inc"

void transpose_b8_8x8__avx2(const struct ig_call *call, struct ig_range range, void *scratch)
{
    (void)scratch;
    ig_permute(call, range, 1, transpose);
}
