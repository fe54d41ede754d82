/*
 * Bytes by a table, common/lookup.h: VPERMI2B takes one of 128 entries by seven bits, and the eighth says of which half. It is
 * AVX-512 VBMI, which processors with tiles have (grant.h). Any number of bytes.
 */
#include <immintrin.h>

#include "kernels_cpu/amx/kernels.h"
#include "kernels_cpu/common/lookup.h"

#define INLINE static inline __attribute__((always_inline))

INLINE __m512i looked_up(__m512i v, const __m512i *entries)
{
    return _mm512_mask_blend_epi8(_mm512_movepi8_mask(v), _mm512_permutex2var_epi8(entries[0], v, entries[1]),
                                  _mm512_permutex2var_epi8(entries[2], v, entries[3]));
}

static void run(uint8_t *y, const uint8_t *x, int64_t n, const uint8_t *table)
{
    const __m512i entries[4] = {_mm512_loadu_si512(table), _mm512_loadu_si512(table + 64), _mm512_loadu_si512(table + 128),
                                _mm512_loadu_si512(table + 192)};
    int64_t i = 0;
    for (; i + 64 <= n; i += 64) _mm512_storeu_si512(y + i, looked_up(_mm512_loadu_si512(x + i), entries));
    if (i == n) return;
    const __mmask64 rest = ~0ull >> (64 - (n - i));
    _mm512_mask_storeu_epi8(y + i, rest, looked_up(_mm512_maskz_loadu_epi8(rest, x + i), entries));
}

void lookup_b8_64__amx(const struct ig_call *call, struct ig_range range, void *scratch)
{
    (void)scratch;
    ig_lookup_rows(call, range, (const uint8_t *)call->in[1].data, 1, run);
}
