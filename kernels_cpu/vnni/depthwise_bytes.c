/*
 * Depthwise convolution of quantised numbers by products of four bytes, 64 channels at a time (vnni/depthwise_bytes_wide.inc). Where products
 * may be beyond 32 bits, or an image is one pixel wide, 16 at a time: these of four pixels become 16 words in two shuffles.
 */
#include "kernels_cpu/avx512/put_bytes.h"
#include "kernels_cpu/avx512/sums_floats.h"
#include "kernels_cpu/common/depthwise_fours.h"
#include "kernels_cpu/vnni/kernels.h"

#define INLINE static inline __attribute__((always_inline))

enum { N = IG_BYTES_CHANNELS };

INLINE __m128i load(const uint8_t *p, __mmask16 there)
{
    return there == 0xffff ? _mm_loadu_si128((const __m128i *)p) : _mm_maskz_loadu_epi8(there, p);
}

/* Words of four pixels' sixteen channels, of those that are there. */
INLINE __m512i words_of(__m128i a, __m128i b, __m128i c, __m128i d, __m512i flip)
{
    const __m512i lanes = _mm512_setr_epi32(0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15);
    const __m512i bytes = _mm512_broadcast_i32x4(_mm_setr_epi8(0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15));
    __m512i v = _mm512_inserti32x4(_mm512_inserti32x4(_mm512_inserti32x4(_mm512_castsi128_si512(a), b, 1), c, 2), d, 3);
    return _mm512_xor_si512(_mm512_shuffle_epi8(_mm512_permutexvar_epi32(lanes, v), bytes), flip);
}

/* The words of pixels at `at`, of a run from the first of them and `step`; i: outputs that are behind it. */
INLINE __m512i words_at(const uint8_t *const *at, int64_t step, int64_t i, int64_t c, __mmask16 there, const int run, __m512i flip)
{
    const uint8_t *p = at[0] + i * step + c;
    if (!run) return words_of(load(p, there), load(at[1] + c, there), load(at[2] + c, there), load(at[3] + c, there), flip);
    return words_of(load(p, there), load(p + step, there), load(p + 2 * step, there), load(p + 3 * step, there), flip);
}

INLINE void sums_by_any(const struct fours *f, int64_t c, const __mmask16 there, const int32_t *block, const int outputs, const int run,
                        int32_t count, int32_t apart, int32_t *sums)
{
    const __m512i flip = _mm512_set1_epi8((char)f->flip), bias = _mm512_loadu_si512(block);
    for (int32_t i = 0; i < count; i++, sums += outputs * N) {
        const int32_t *w = block + 2 * N;
        __m512i first = bias, second = bias;
        for (int32_t k = 0; k < f->n; k++, w += 2 * N) {
            const __m512i x = words_at(f->at + 4 * k, f->step[k], (int64_t)i * apart, c, there, run, flip);
            first = _mm512_dpbusd_epi32(first, x, _mm512_loadu_si512(w));
            if (outputs == 2) second = _mm512_dpbusd_epi32(second, x, _mm512_loadu_si512(w + N));
        }
        _mm512_storeu_si512(sums, first);
        if (outputs == 2) _mm512_storeu_si512(sums + N, second);
    }
}

static void sums_of(const struct fours *f, int64_t c, int32_t n, const int32_t *block, int outputs, int run, int32_t count, int32_t apart,
                    int32_t *sums)
{
    const __mmask16 there = n < N ? (__mmask16)((1u << n) - 1) : 0xffff;
    if (outputs == 2) sums_by_any(f, c, there, block, 2, 1, count, 2, sums);
    else sums_by_any(f, c, there, block, 1, run, count, apart, sums);
}

static void put(uint8_t *const *to, int64_t at, int32_t rows, const int32_t *sums, const float *scale, int32_t n,
                const struct ig_bytes_head *head)
{
    ig_bytes_put_quads(to, at, rows, sums, scale, n, head);
}

#include "kernels_cpu/common/depthwise_fours.inc"
#include "kernels_cpu/vnni/depthwise_bytes_wide.inc"

void qlinear_conv_i8_depthwise16__vnni(const struct ig_call *call, struct ig_range range, void *scratch)
{
    if (is_wide(call)) depthwise_wide(call, range, scratch, NULL);
    else depthwise_fours(call, range, scratch, NULL);
}

void conv_integer_i8_depthwise16__vnni(const struct ig_call *call, struct ig_range range, void *scratch)
{
    if (is_wide(call)) depthwise_wide(call, range, scratch, ig_bytes_floats_avx512);
    else depthwise_fours(call, range, scratch, ig_bytes_floats_avx512);
}
