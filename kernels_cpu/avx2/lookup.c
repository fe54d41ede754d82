/*
 * Bytes by a table, common/lookup.h: sixteen PSHUFB of sixteen entries each, which give 0 where bit 7 of the index is set. Row r
 * holds the difference, by XOR, of entries 16 r + i and of those a row before (in each half the first row is whole), and its
 * index is x - 16 r, below 0 where x is in a row before: the sum of all is the entry of x's row. The upper half is the lower
 * one's of x with bit 7 turned. 64 bytes at a time share what is loaded; where 32 are left, they are both.
 */
#include <immintrin.h>

#include "kernels_cpu/avx2/kernels.h"
#include "kernels_cpu/common/lookup.h"

#define INLINE static inline __attribute__((always_inline))

enum { ROWS = 8 /* of a half */, STEP = 32 };

INLINE void half(__m256i *y, __m256i a, __m256i b, const uint8_t *rows)
{
    const __m256i row = _mm256_set1_epi8(16);
#pragma GCC unroll 8
    for (int r = 0; r < ROWS; r++) {
        __m256i entries = _mm256_broadcastsi128_si256(_mm_loadu_si128((const __m128i *)(rows + 16 * r)));
        y[0] = _mm256_xor_si256(y[0], _mm256_shuffle_epi8(entries, a));
        y[1] = _mm256_xor_si256(y[1], _mm256_shuffle_epi8(entries, b));
        a = _mm256_subs_epi8(a, row), b = _mm256_subs_epi8(b, row);
    }
}

static void run(uint8_t *y, const uint8_t *x, int64_t n, const uint8_t *table)
{
    const __m256i turned = _mm256_set1_epi8(-128);
    for (int64_t i = 0; i < n; i += 64) {
        const int64_t second = n - i > STEP ? i + STEP : i;
        __m256i a = _mm256_loadu_si256((const __m256i *)(x + i)), b = _mm256_loadu_si256((const __m256i *)(x + second));
        __m256i to[2] = {_mm256_setzero_si256(), _mm256_setzero_si256()};
        half(to, a, b, table);
        half(to, _mm256_xor_si256(a, turned), _mm256_xor_si256(b, turned), table + 128);
        _mm256_storeu_si256((__m256i *)(y + i), to[0]);
        _mm256_storeu_si256((__m256i *)(y + second), to[1]);
    }
}

void lookup_b8_64__avx2(const struct ig_call *call, struct ig_range range, void *scratch)
{
    const uint8_t *table = (const uint8_t *)call->in[1].data;
    uint8_t rows[IG_LOOKUP_ENTRIES];
    (void)scratch;
    for (int i = 0; i < IG_LOOKUP_ENTRIES; i++) rows[i] = i % 128 < 16 ? table[i] : table[i] ^ table[i - 16];
    ig_lookup_rows(call, range, rows, STEP, run);
}
