/* Bytes to floats and back, for element-wise kernels of quantised numbers, two times sixteen at a time; bytes to numbers of 16 bits. */
#ifndef KERNELS_CPU_AVX2_WIDEN_BYTES_H
#define KERNELS_CPU_AVX2_WIDEN_BYTES_H

#include <immintrin.h>
#include <stdint.h>

struct ig_eight_bytes {
    uint8_t of[8];
};

struct ig_sixteen_bytes {
    uint8_t of[16];
};

/*
 * Eight numbers as floats. From memory AMD's Zen 3 widens twice as many as from a register, to which GCC would load what both kinds have in common.
 */
static inline __attribute__((always_inline)) __m256 ig_bytes_floats_at(const uint8_t *from, int is_signed)
{
    const struct ig_eight_bytes *at = (const struct ig_eight_bytes *)from;
    __m256i v;
    if (is_signed) __asm__("vpmovsxbd %1, %0" : "=x"(v) : "m"(*at));
    else __asm__("vpmovzxbd %1, %0" : "=x"(v) : "m"(*at));
    return _mm256_cvtepi32_ps(v);
}

/* Sixteen as numbers of 16 bits, from memory, too. */
static inline __attribute__((always_inline)) __m256i ig_bytes_words_at(const uint8_t *from, int is_signed)
{
    const struct ig_sixteen_bytes *at = (const struct ig_sixteen_bytes *)from;
    __m256i v;
    if (is_signed) __asm__("vpmovsxbw %1, %0" : "=x"(v) : "m"(*at));
    else __asm__("vpmovzxbw %1, %0" : "=x"(v) : "m"(*at));
    return v;
}

/* Sixteen each at p and at q. */
static inline __attribute__((always_inline)) void ig_bytes_to_floats(const uint8_t *p, const uint8_t *q, int is_signed, __m256 to[4])
{
    if (is_signed) {
        to[0] = ig_bytes_floats_at(p, 1), to[1] = ig_bytes_floats_at(p + 8, 1);
        to[2] = ig_bytes_floats_at(q, 1), to[3] = ig_bytes_floats_at(q + 8, 1);
    } else {
        to[0] = ig_bytes_floats_at(p, 0), to[1] = ig_bytes_floats_at(p + 8, 0);
        to[2] = ig_bytes_floats_at(q, 0), to[3] = ig_bytes_floats_at(q + 8, 0);
    }
}

static inline __attribute__((always_inline)) void ig_bytes_store_two(uint8_t *p, uint8_t *q, __m256i bytes)
{
    _mm_storeu_si128((__m128i *)p, _mm256_castsi256_si128(bytes));
    _mm_storeu_si128((__m128i *)q, _mm256_extracti128_si256(bytes, 1));
}

#endif
