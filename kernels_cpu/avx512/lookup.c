/*
 * Bytes by a table, common/lookup.h: its entries as 128 pairs in four registers, of which VPERMI2W takes one by bits 1 to 6 of
 * each even byte, then of each odd one; bit 7 says which two registers, bit 0 which of the pair. Any number of bytes.
 */
#include <immintrin.h>

#include "kernels_cpu/avx512/kernels.h"
#include "kernels_cpu/common/lookup.h"

#define INLINE static inline __attribute__((always_inline))

INLINE __m512i looked_up(__m512i v, const __m512i *pairs)
{
    const __mmask64 odd = 0xaaaaaaaaaaaaaaaa;
    __m512i even_at = _mm512_srli_epi16(v, 1), odd_at = _mm512_srli_epi16(v, 9);
    __m512i of_even = _mm512_mask_blend_epi16(_mm512_test_epi16_mask(v, _mm512_set1_epi16(0x80)),
                                              _mm512_permutex2var_epi16(pairs[0], even_at, pairs[1]),
                                              _mm512_permutex2var_epi16(pairs[2], even_at, pairs[3]));
    __m512i of_odd = _mm512_mask_blend_epi16(_mm512_movepi16_mask(v), _mm512_permutex2var_epi16(pairs[0], odd_at, pairs[1]),
                                             _mm512_permutex2var_epi16(pairs[2], odd_at, pairs[3]));
    __m512i first = _mm512_mask_blend_epi8(odd, of_even, _mm512_slli_epi16(of_odd, 8));
    __m512i second = _mm512_mask_blend_epi8(odd, _mm512_srli_epi16(of_even, 8), of_odd);
    return _mm512_mask_blend_epi8(_mm512_movepi8_mask(_mm512_slli_epi16(v, 7)), first, second);
}

static void run(uint8_t *y, const uint8_t *x, int64_t n, const uint8_t *table)
{
    const __m512i pairs[4] = {_mm512_loadu_si512(table), _mm512_loadu_si512(table + 64), _mm512_loadu_si512(table + 128),
                              _mm512_loadu_si512(table + 192)};
    int64_t i = 0;
    for (; i + 64 <= n; i += 64) _mm512_storeu_si512(y + i, looked_up(_mm512_loadu_si512(x + i), pairs));
    if (i == n) return;
    const __mmask64 rest = ~0ull >> (64 - (n - i));
    _mm512_mask_storeu_epi8(y + i, rest, looked_up(_mm512_maskz_loadu_epi8(rest, x + i), pairs));
}

void lookup_b8_64__avx512(const struct ig_call *call, struct ig_range range, void *scratch)
{
    (void)scratch;
    ig_lookup_rows(call, range, (const uint8_t *)call->in[1].data, 1, run);
}
