/*
 * Convolution of quantised numbers from few input channels, common/first_bytes.h, by products of four bytes: as vnni/first_bytes.c, of vectors of
 * eight pixels, whose lanes of 128 bits have four successive ones each.
 */
#include "kernels_cpu/avx2/conv_bytes.h"
#include "kernels_cpu/avxvnni/kernels.h"
#include "kernels_cpu/common/first_bytes.h"

#define INLINE static inline __attribute__((always_inline))
#define WORDS __m256i

enum { LANES = 8, FOUR = IG_BYTES_FIRST_FOUR };

struct places {     /* where a pixel's word is */
    __m256i bytes;  /* among 16 bytes, those of two pixels, in the lower half of a lane */
    int64_t step;
};

static struct places places_of(int64_t step, int32_t words)
{
    uint8_t bytes[32];
    (void)words;
    for (int i = 0; i < 32; i++) bytes[i] = (uint8_t)(i / 4 % 2 * step + i % 4);
    return (struct places){_mm256_loadu_si256((const __m256i *)bytes), step};
}

INLINE __m256i two_at(const char *p, const struct places *places)
{
    const __m256i v = _mm256_castsi128_si256(_mm_loadu_si128((const __m128i *)p));
    return _mm256_shuffle_epi8(_mm256_inserti128_si256(v, _mm_loadu_si128((const __m128i *)(p + 4 * places->step)), 1), places->bytes);
}

/* The word at p of each pixel. */
INLINE WORDS word_at(const char *p, const struct places *places)
{
    return _mm256_unpacklo_epi64(two_at(p, places), two_at(p + 2 * places->step, places));
}

INLINE void store_words(int32_t *to, WORDS v)
{
    _mm256_storeu_si256((__m256i *)to, v);
}

INLINE WORDS words_of(const char *p, int32_t n, const struct places *places, int32_t *to)
{
    for (; n > 0; n--, to += 2 * LANES, p += 4) store_words(to, word_at(p, places));
    return word_at(p, places);
}

INLINE WORDS joined(WORDS a, WORDS b, int32_t bytes)
{
    return _mm256_or_si256(a, _mm256_sll_epi32(b, _mm_cvtsi32_si128(8 * bytes)));
}

INLINE WORDS without(WORDS a, int32_t bytes)
{
    return _mm256_srl_epi32(a, _mm_cvtsi32_si128(8 * bytes));
}

INLINE WORDS first_of(WORDS a, int32_t bytes)
{
    return _mm256_and_si256(a, _mm256_set1_epi32((1 << 8 * bytes) - 1));
}

/* Of 32 bytes or more the last ones overlap what is there. */
static inline void fill(void *to, const uint8_t *from, int64_t n, const struct ig_bytes_head *head)
{
    const __m256i flip = _mm256_set1_epi8((char)head->flip);
    char *p = (char *)to;
    if (n < 32)
        for (int64_t i = 0; i < n; i++) p[i] = (char)(from[i] ^ head->flip);
    else
        for (int64_t i = 0; i < n; i += 32) {
            const int64_t at = i + 32 <= n ? i : n - 32;
            _mm256_storeu_si256((__m256i *)(p + at), _mm256_xor_si256(_mm256_loadu_si256((const __m256i *)(from + at)), flip));
        }
}

#include "kernels_cpu/common/first_bytes.inc"

#define BIAS(c) "vpbroadcastd 4*" #c "(%[w]), %[a" #c "]\n\tvmovdqa %[a" #c "], %[b" #c "]\n\t"
#define DOT(x, sum) "%{vex%} vpdpbusd %%ymm2, %%ymm" #x ", %[" #sum "]\n\t"
#define DOTS(c) "vpbroadcastd 4*" #c "(%[w]), %%ymm2\n\t" DOT(0, a##c) DOT(1, b##c)
#define SUMS(c) [a##c] "=&x"(s[0][c]), [b##c] "=&x"(s[1][c])

/* Sums of a block's channels, of both vectors. */
INLINE void sums_of(const struct first *f, const int32_t *block, __m256i s[2][FOUR])
{
    const int32_t *w = block, *x = f->words;
    int64_t left = f->cut.words;
    __asm__(BIAS(0) BIAS(1) BIAS(2) BIAS(3)
            "add $16, %[w]\n"
            "0:\tvmovdqu (%[x]), %%ymm0\n\t"
            "vmovdqu 32(%[x]), %%ymm1\n\t"
            "add $16, %[w]\n\t"
            "add $64, %[x]\n\t"
            DOTS(0) DOTS(1) DOTS(2) DOTS(3)
            "dec %[left]\n\t"
            "jnz 0b"
            : SUMS(0), SUMS(1), SUMS(2), SUMS(3), [w] "+r"(w), [x] "+r"(x), [left] "+r"(left)
            :
            : "xmm0", "xmm1", "xmm2", "cc", "memory");
}

INLINE __m256i rounded(__m256i sum, float scale)
{
    return _mm256_cvtps_epi32(_mm256_mul_ps(_mm256_cvtepi32_ps(sum), _mm256_set1_ps(scale)));
}

/* Outputs of sums of four channels: pixel by pixel. */
INLINE __m256i four_of(const __m256i s[FOUR], const float *scale, const struct ig_bytes_head *head)
{
    const __m256i pixels = _mm256_broadcastsi128_si256(_mm_setr_epi8(0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15));
    return _mm256_shuffle_epi8(ig_bytes_in_lanes_avx2(rounded(s[0], scale[0]), rounded(s[1], scale[1]), rounded(s[2], scale[2]),
                                                      rounded(s[3], scale[3]), head), pixels);
}

/* n of 16 channels of eight pixels, `stride` bytes apart, of q's four each, */
static void store_16(uint8_t *to, int64_t stride, const __m256i q[4], int32_t n)
{
    const __m256i low = _mm256_unpacklo_epi32(q[0], q[1]), high = _mm256_unpackhi_epi32(q[0], q[1]);
    const __m256i low2 = _mm256_unpacklo_epi32(q[2], q[3]), high2 = _mm256_unpackhi_epi32(q[2], q[3]);
    const __m256i y[4] = {_mm256_unpacklo_epi64(low, low2), _mm256_unpackhi_epi64(low, low2), _mm256_unpacklo_epi64(high, high2),
                          _mm256_unpackhi_epi64(high, high2)};
#pragma GCC unroll 4
    for (int j = 0; j < 4; j++, to += stride) {
        ig_bytes_store(to, _mm256_castsi256_si128(y[j]), n);
        ig_bytes_store(to + 4 * stride, _mm256_extracti128_si256(y[j], 1), n);
    }
}

/* or 8. */
static void store_8(uint8_t *to, int64_t stride, const __m256i q[2])
{
    const __m256i low = _mm256_unpacklo_epi32(q[0], q[1]), high = _mm256_unpackhi_epi32(q[0], q[1]);
    const __m128i pairs[4] = {_mm256_castsi256_si128(low), _mm256_castsi256_si128(high), _mm256_extracti128_si256(low, 1),
                              _mm256_extracti128_si256(high, 1)};
#pragma GCC unroll 4
    for (int i = 0; i < 4; i++, to += 2 * stride) {
        _mm_storel_epi64((__m128i *)to, pairs[i]);
        _mm_storeh_pd((double *)(to + stride), _mm_castsi128_pd(pairs[i]));
    }
}

/* n channels. */
static void store(uint8_t *to, int64_t stride, const __m256i *q, int32_t n)
{
    for (; n >= 16; n -= 16, to += 16, q += 4) store_16(to, stride, q, 16);
    if (n == 8) store_8(to, stride, q);
    else if (n) store_16(to, stride, q, n);
}

static void tile(const struct first *f, const int32_t *block, int32_t n, int32_t vectors, uint8_t *const *to)
{
    const struct ig_bytes_head h = *f->head; /* which outputs, as bytes, might be */
    const int64_t stride = f->call->out[0].pixel_stride;
    __m256i s[2][FOUR], q[2][IG_BYTES_FIRST_STORED / FOUR];
    if (n % 8) memset(q, 0, sizeof q); /* some may be read that are not there */
    for (int32_t j = 0; j * FOUR < n; j++, block += f->cut.packed) {
        const float *scale = (const float *)block + FOUR;
        sums_of(f, block, s);
        q[0][j] = four_of(s[0], scale, &h), q[1][j] = four_of(s[1], scale, &h);
    }
    store(to[0], stride, q[0], n);
    if (vectors == 2) store(to[1], stride, q[1], n);
}

void qlinear_conv_i8_first16x16__avxvnni(const struct ig_call *call, struct ig_range range, void *scratch)
{
    first_bytes(call, range, scratch, &ig_bytes_first_avxvnni);
}
