/*
 * SHA-256 with SHA-NI (Intel SDM, SHA256RNDS2, SHA256MSG1, SHA256MSG2). The working variables live in two
 * registers, abef = (a,b,e,f) and cdgh = (c,d,g,h); a step of the loop does sixteen rounds and makes the words
 * of the next sixteen.
 */
#include "graph/sha256_x86.h"

#if defined(__x86_64__)

#include <cpuid.h>
#include <immintrin.h>

static int has_sha(void)
{
    unsigned a, b, c, d;
    return __get_cpuid_count(7, 0, &a, &b, &c, &d) && (b >> 29 & 1);
}

#define SHA __attribute__((target("sha,sse4.1,ssse3"))) static

/* Four rounds, with words w. */
SHA inline void rounds(__m128i *abef, __m128i *cdgh, __m128i w, const uint32_t *k)
{
    __m128i sum = _mm_add_epi32(w, _mm_loadu_si128((const __m128i *)k));
    *cdgh = _mm_sha256rnds2_epu32(*cdgh, *abef, sum);
    *abef = _mm_sha256rnds2_epu32(*abef, *cdgh, _mm_shuffle_epi32(sum, 0x0e));
}

/* The four words sixteen rounds after w0, which w1 .. w3 follow. */
SHA inline __m128i schedule(__m128i w0, __m128i w1, __m128i w2, __m128i w3)
{
    return _mm_sha256msg2_epu32(_mm_add_epi32(_mm_sha256msg1_epu32(w0, w1), _mm_alignr_epi8(w3, w2, 4)), w3);
}

SHA inline __m128i words(const unsigned char *p)
{
    return _mm_shuffle_epi8(_mm_loadu_si128((const __m128i *)p), _mm_set_epi64x(0x0c0d0e0f08090a0b, 0x0405060700010203));
}

SHA void hash(uint32_t state[8], const unsigned char *p, size_t blocks, const uint32_t k[64])
{
    __m128i low = _mm_shuffle_epi32(_mm_loadu_si128((const __m128i *)state), 0xb1);
    __m128i high = _mm_shuffle_epi32(_mm_loadu_si128((const __m128i *)(state + 4)), 0x1b);
    __m128i abef = _mm_alignr_epi8(low, high, 8), cdgh = _mm_blend_epi16(high, low, 0xf0);
    for (; blocks; blocks--, p += 64) {
        __m128i abef0 = abef, cdgh0 = cdgh;
        __m128i w0 = words(p), w1 = words(p + 16), w2 = words(p + 32), w3 = words(p + 48);
        for (int i = 0;; i += 16) { /* the words stay in registers: their names rotate, not an index */
            rounds(&abef, &cdgh, w0, k + i);
            rounds(&abef, &cdgh, w1, k + i + 4);
            rounds(&abef, &cdgh, w2, k + i + 8);
            rounds(&abef, &cdgh, w3, k + i + 12);
            if (i == 48) break;
            w0 = schedule(w0, w1, w2, w3);
            w1 = schedule(w1, w2, w3, w0);
            w2 = schedule(w2, w3, w0, w1);
            w3 = schedule(w3, w0, w1, w2);
        }
        abef = _mm_add_epi32(abef, abef0);
        cdgh = _mm_add_epi32(cdgh, cdgh0);
    }
    low = _mm_shuffle_epi32(abef, 0x1b);
    high = _mm_shuffle_epi32(cdgh, 0xb1);
    _mm_storeu_si128((__m128i *)state, _mm_blend_epi16(low, high, 0xf0));
    _mm_storeu_si128((__m128i *)(state + 4), _mm_alignr_epi8(high, low, 8));
}

int ig_sha256_x86(uint32_t state[8], const unsigned char *p, size_t blocks, const uint32_t k[64])
{
    if (!has_sha()) return 0;
    hash(state, p, blocks, k);
    return 1;
}

#else

int ig_sha256_x86(uint32_t state[8], const unsigned char *p, size_t blocks, const uint32_t k[64])
{
    (void)state;
    (void)p;
    (void)blocks;
    (void)k;
    return 0;
}

#endif
