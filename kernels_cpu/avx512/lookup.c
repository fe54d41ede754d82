/*
 * Bytes by a table, common/lookup.h: its entries as 128 pairs in four registers, of which VPERMI2W takes one by bits 1 to 6 of
 * each even byte, then of each odd one; bit 7 says which two registers, bit 0 which of the pair.
 */
#include <immintrin.h>

#include "kernels_cpu/avx512/kernels.h"
#include "kernels_cpu/common/lookup.h"

static void run(uint8_t *y, const uint8_t *x, int64_t n, const uint8_t *table)
{
    const __m512i a = _mm512_loadu_si512(table), b = _mm512_loadu_si512(table + 64);
    const __m512i c = _mm512_loadu_si512(table + 128), d = _mm512_loadu_si512(table + 192);
    const __mmask64 odd = 0xaaaaaaaaaaaaaaaa;
    for (int64_t i = 0; i < n; i += 64) {
        __m512i v = _mm512_loadu_si512(x + i), even_at = _mm512_srli_epi16(v, 1), odd_at = _mm512_srli_epi16(v, 9);
        __m512i even_pairs = _mm512_mask_blend_epi16(_mm512_test_epi16_mask(v, _mm512_set1_epi16(0x80)), _mm512_permutex2var_epi16(a, even_at, b),
                                                     _mm512_permutex2var_epi16(c, even_at, d));
        __m512i odd_pairs = _mm512_mask_blend_epi16(_mm512_movepi16_mask(v), _mm512_permutex2var_epi16(a, odd_at, b),
                                                    _mm512_permutex2var_epi16(c, odd_at, d));
        __m512i first = _mm512_mask_blend_epi8(odd, even_pairs, _mm512_slli_epi16(odd_pairs, 8));
        __m512i second = _mm512_mask_blend_epi8(odd, _mm512_srli_epi16(even_pairs, 8), odd_pairs);
        _mm512_storeu_si512(y + i, _mm512_mask_blend_epi8(_mm512_movepi8_mask(_mm512_slli_epi16(v, 7)), first, second));
    }
}

void lookup_b8_64__avx512(const struct ig_call *call, struct ig_range range, void *scratch)
{
    (void)scratch;
    ig_lookup_rows(call, range, (const uint8_t *)call->in[1].data, run);
}
