/* `fill` of common/conv_bytes.inc, of words of four bytes. */
#ifndef KERNELS_CPU_AVX512_FILL_BYTES_H
#define KERNELS_CPU_AVX512_FILL_BYTES_H

#include <immintrin.h>

#include "kernels_cpu/common/conv_bytes.h"

static inline void ig_bytes_fill_avx512(void *to, const uint8_t *from, int64_t n, const struct ig_bytes_head *head)
{
    const __m512i flip = _mm512_set1_epi8((char)head->flip);
    char *p = (char *)to;
    if (n <= 32) {
        const __mmask32 there = (__mmask32)((1ull << n) - 1);
        _mm256_storeu_si256((__m256i *)p, _mm256_xor_si256(_mm256_maskz_loadu_epi8(there, from), _mm512_castsi512_si256(flip)));
        return;
    }
    for (int64_t i = 0; i < n; i += 64) {
        const __mmask64 there = n - i < 64 ? (1ull << (n - i)) - 1 : ~0ull;
        _mm512_storeu_si512(p + i, _mm512_xor_si512(_mm512_maskz_loadu_epi8(there, from + i), flip));
    }
}

#endif
