/* Words of bytes, or of numbers of 16 bits, for kernels that multiply two of them at a time. */
#ifndef KERNELS_CPU_AVX2_WORD_BYTES_H
#define KERNELS_CPU_AVX2_WORD_BYTES_H

#include <immintrin.h>
#include <stdint.h>

/* A pixel's word, for eight channels. */
static inline __attribute__((always_inline)) __m256i ig_word_at(const char *at)
{
    int32_t word;
    __builtin_memcpy(&word, at, sizeof word);
    return _mm256_set1_epi32(word);
}

/* Two words x y of bytes u8 by w v of i8, whose products are added in 16 bits four at a time. */
static inline __attribute__((always_inline)) __m256i ig_words_added(__m256i sum, __m256i x, __m256i w, __m256i y, __m256i v)
{
    const __m256i pairs = _mm256_add_epi16(_mm256_maddubs_epi16(x, w), _mm256_maddubs_epi16(y, v));
    return _mm256_add_epi32(sum, _mm256_madd_epi16(pairs, _mm256_set1_epi16(1)));
}

#endif
