/*
 * Convolution of quantised numbers from few input channels, common/first_bytes.h, by products of four bytes: two vectors of sixteen pixels by eight
 * channels are 16 sums, two registers of pixels and one of a weight. Sums become outputs in registers: four channels' are narrowed to a vector that
 * has in each lane those of four pixels, channel by channel, a shuffle makes these pixels, and unpacking joins them with other channels'.
 */
#include "kernels_cpu/avx512/fill_bytes.h"
#include "kernels_cpu/avx512/put_bytes.h"
#include "kernels_cpu/common/first_bytes.h"
#include "kernels_cpu/vnni/kernels.h"

#define INLINE static inline __attribute__((always_inline))
#define WORDS __m512i

enum { LANES = 16, FOUR = IG_BYTES_FIRST_FOUR };

/* Lane 4 l + j has pixel l + 4 j of a vector's, so that four channels of four vectors become four successive pixels' 16 in each. */
INLINE int pixel_of(int lane)
{
    return lane / 4 + lane % 4 * 4;
}

/* Windows are IG_BYTES_FIRST_NEAR bytes apart at most; or more, an even number; or an even number, and a row's words are all among 128 bytes. */
enum kind { NEAR, FAR, AMONG };

struct places {     /* where a lane's word is */
    __m512i pairs;  /* FAR and AMONG: its two pairs of bytes among 128 */
    __m512i fours;  /* NEAR: the 16 bytes that the words of four pixels are in, among 64, */
    __m512i bytes;  /* the words there, */
    __m512i lanes;  /* and which pixel's a lane has */
    enum kind kind;
};

static struct places places_of(int64_t step, int32_t words)
{
    const int64_t last = (LANES - 1) * step + 4 * words; /* the last pixel's last word */
    uint16_t pairs[32];
    uint32_t fours[LANES], lanes[LANES];
    uint8_t bytes[64];
    for (int i = 0; i < 32; i++) pairs[i] = (uint16_t)(pixel_of(i / 2) * step / 2 + i % 2);
    for (int i = 0; i < LANES; i++) fours[i] = (uint32_t)(i / 4 * step + i % 4), lanes[i] = (uint32_t)pixel_of(i);
    for (int i = 0; i < 64; i++) bytes[i] = (uint8_t)(i / 4 % 4 * step + i % 4);
    return (struct places){_mm512_loadu_si512(pairs), _mm512_loadu_si512(fours), _mm512_loadu_si512(bytes), _mm512_loadu_si512(lanes),
                           step % 2 == 0 && last + 4 <= 128 ? AMONG : step > IG_BYTES_FIRST_NEAR ? FAR : NEAR};
}

/* The word at p of each pixel. */
INLINE WORDS word_at(const char *p, const struct places *places)
{
    if (places->kind == FAR) return _mm512_permutex2var_epi16(_mm512_loadu_si512(p), places->pairs, _mm512_loadu_si512(p + 64));
    const __m512i words = _mm512_shuffle_epi8(_mm512_permutexvar_epi32(places->fours, _mm512_loadu_si512(p)), places->bytes);
    return _mm512_permutexvar_epi32(places->lanes, words);
}

/* Rows whose words are all AMONG 128 bytes are loaded once. */
INLINE WORDS words_of(const char *p, int32_t n, const struct places *places, int32_t *to)
{
    if (places->kind == AMONG) {
        const __m512i a = _mm512_loadu_si512(p), b = _mm512_loadu_si512(p + 64), two = _mm512_set1_epi16(2);
        __m512i pairs = places->pairs;
        for (; n > 0; n--, to += 2 * LANES, pairs = _mm512_add_epi16(pairs, two))
            _mm512_storeu_si512(to, _mm512_permutex2var_epi16(a, pairs, b));
        return _mm512_permutex2var_epi16(a, pairs, b);
    }
    for (; n > 0; n--, to += 2 * LANES, p += 4) _mm512_storeu_si512(to, word_at(p, places));
    return word_at(p, places);
}

INLINE WORDS joined(WORDS a, WORDS b, int32_t bytes)
{
    return _mm512_or_si512(a, _mm512_sll_epi32(b, _mm_cvtsi32_si128(8 * bytes)));
}

INLINE WORDS without(WORDS a, int32_t bytes)
{
    return _mm512_srl_epi32(a, _mm_cvtsi32_si128(8 * bytes));
}

INLINE WORDS first_of(WORDS a, int32_t bytes)
{
    return _mm512_and_si512(a, _mm512_set1_epi32((1 << 8 * bytes) - 1));
}

INLINE void store_words(int32_t *to, WORDS v)
{
    _mm512_storeu_si512(to, v);
}

static inline void fill(void *to, const uint8_t *from, int64_t n, const struct ig_bytes_head *head)
{
    ig_bytes_fill_avx512(to, from, n, head);
}

#include "kernels_cpu/common/first_bytes.inc"

#define BIAS(w, c, i) "vpbroadcastd 4*" #c "(%[" #w "]), %[a" #i "]\n\tvmovdqa64 %[a" #i "], %[b" #i "]\n\t"
#define DOTS(w, c, i) "vpbroadcastd 4*" #c "(%[" #w "]), %%zmm2\n\tvpdpbusd %%zmm2, %%zmm0, %[a" #i "]\n\tvpdpbusd %%zmm2, %%zmm1, %[b" #i "]\n\t"
#define FOURS(WHAT) WHAT(v, 0, 0) WHAT(v, 1, 1) WHAT(v, 2, 2) WHAT(v, 3, 3) WHAT(w, 0, 4) WHAT(w, 1, 5) WHAT(w, 2, 6) WHAT(w, 3, 7)
#define SUMS(i) [a##i] "=&v"(s[i / 4][0][i % 4]), [b##i] "=&v"(s[i / 4][1][i % 4])

/* Sums of two blocks' channels, of both vectors. Of intrinsics GCC 12 makes a loop that copies all sums to other registers and back. */
INLINE void sums_of(const struct first *f, const int32_t *first, const int32_t *second, __m512i s[2][2][FOUR])
{
    const int32_t *v = first, *w = second, *x = f->words;
    int64_t left = f->cut.words;
    __asm__(FOURS(BIAS)
            "add $16, %[v]\n\t"
            "add $16, %[w]\n"
            "0:\tvmovdqu64 (%[x]), %%zmm0\n\t"
            "vmovdqu64 64(%[x]), %%zmm1\n\t"
            "add $16, %[v]\n\t"
            "add $16, %[w]\n\t"
            "sub $-128, %[x]\n\t"
            FOURS(DOTS)
            "dec %[left]\n\t"
            "jnz 0b"
            : SUMS(0), SUMS(1), SUMS(2), SUMS(3), SUMS(4), SUMS(5), SUMS(6), SUMS(7), [v] "+r"(v), [w] "+r"(w), [x] "+r"(x), [left] "+r"(left)
            :
            : "xmm0", "xmm1", "xmm2", "cc", "memory");
}

INLINE __m512i rounded(__m512i sum, float scale)
{
    return _mm512_cvtps_epi32(_mm512_mul_ps(_mm512_cvtepi32_ps(sum), _mm512_set1_ps(scale)));
}

/* Outputs of sums of four channels: pixel by pixel. */
INLINE __m512i four_of(const __m512i s[FOUR], const float *scale, const struct ig_bytes_head *head)
{
    const __m512i pixels = _mm512_broadcast_i32x4(_mm_setr_epi8(0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15));
    return _mm512_shuffle_epi8(ig_bytes_in_lanes(rounded(s[0], scale[0]), rounded(s[1], scale[1]), rounded(s[2], scale[2]),
                                                 rounded(s[3], scale[3]), head), pixels);
}

INLINE void lanes_of(__m512i v, __m128i lanes[4])
{
    lanes[0] = _mm512_castsi512_si128(v), lanes[1] = _mm512_extracti32x4_epi32(v, 1);
    lanes[2] = _mm512_extracti32x4_epi32(v, 2), lanes[3] = _mm512_extracti32x4_epi32(v, 3);
}

/* Four vectors of four pixels' 16 channels each, one behind the other, of sixteen pixels of q's four channels. */
INLINE void sixteen_of(const __m512i q[4], __m512i y[4])
{
    const __m512i low = _mm512_unpacklo_epi32(q[0], q[1]), high = _mm512_unpackhi_epi32(q[0], q[1]);
    const __m512i low2 = _mm512_unpacklo_epi32(q[2], q[3]), high2 = _mm512_unpackhi_epi32(q[2], q[3]);
    y[0] = _mm512_unpacklo_epi64(low, low2), y[1] = _mm512_unpackhi_epi64(low, low2);
    y[2] = _mm512_unpacklo_epi64(high, high2), y[3] = _mm512_unpackhi_epi64(high, high2);
}

/* Outputs of sixteen pixels, `stride` bytes apart: 32 channels, */
static void store_32(uint8_t *to, int64_t stride, const __m512i q[8])
{
    const __m512i low = _mm512_setr_epi64(0, 1, 8, 9, 2, 3, 10, 11), high = _mm512_setr_epi64(4, 5, 12, 13, 6, 7, 14, 15);
    __m512i a[4], b[4];
    sixteen_of(q, a), sixteen_of(q + 4, b);
#pragma GCC unroll 4
    for (int j = 0; j < 4; j++, to += 4 * stride) {
        const __m512i first = _mm512_permutex2var_epi64(a[j], low, b[j]), second = _mm512_permutex2var_epi64(a[j], high, b[j]);
        __asm__("" : "+r"(to)); /* no address is there before its time: sixteen would be too many */
        _mm256_storeu_si256((__m256i *)to, _mm512_castsi512_si256(first));
        _mm256_storeu_si256((__m256i *)(to + stride), _mm512_extracti64x4_epi64(first, 1));
        _mm256_storeu_si256((__m256i *)(to + 2 * stride), _mm512_castsi512_si256(second));
        _mm256_storeu_si256((__m256i *)(to + 3 * stride), _mm512_extracti64x4_epi64(second, 1));
    }
}

/* n of 16, */
static void store_16(uint8_t *to, int64_t stride, const __m512i q[4], int32_t n)
{
    const __mmask16 there = (__mmask16)((1u << n) - 1);
    __m512i y[4];
    __m128i lanes[4];
    sixteen_of(q, y);
#pragma GCC unroll 4
    for (int j = 0; j < 4; j++, to += 4 * stride) {
        __asm__("" : "+r"(to));
        lanes_of(y[j], lanes);
        if (n == 16 && stride == 16) _mm512_storeu_si512(to, y[j]);
        else
            for (int l = 0; l < 4; l++) _mm_mask_storeu_epi8(to + l * stride, there, lanes[l]);
    }
}

/* or 8. */
static void store_8(uint8_t *to, int64_t stride, const __m512i q[2])
{
    const __m512i order = _mm512_setr_epi64(0, 2, 4, 6, 1, 3, 5, 7);
    const __m512i y[2] = {_mm512_permutexvar_epi64(order, _mm512_unpacklo_epi32(q[0], q[1])),
                          _mm512_permutexvar_epi64(order, _mm512_unpackhi_epi32(q[0], q[1]))};
    __m128i lanes[4];
#pragma GCC unroll 2
    for (int j = 0; j < 2; j++) {
        lanes_of(y[j], lanes);
        if (stride == 8) _mm512_storeu_si512(to + 64 * j, y[j]);
        else
#pragma GCC unroll 4
            for (int l = 0; l < 4; l++, to += 2 * stride) {
                const double high = _mm_castsi128_pd(lanes[l])[1]; /* _mm_storeh_pd's place would have to be aligned */
                __asm__("" : "+r"(to));
                _mm_storel_epi64((__m128i *)to, lanes[l]);
                memcpy(to + stride, &high, sizeof high);
            }
    }
}

/* n channels, by q's four each. */
static void store(uint8_t *to, int64_t stride, const __m512i *q, int32_t n)
{
    if (n == 32) {
        store_32(to, stride, q);
        return;
    }
    if (n > 16) store_16(to, stride, q, 16), to += 16, q += 4, n -= 16;
    if (n == 8) store_8(to, stride, q);
    else store_16(to, stride, q, n);
}

static void tile(const struct first *f, const int32_t *block, int32_t n, int32_t vectors, uint8_t *const *to)
{
    const struct ig_bytes_head h = *f->head; /* which outputs, as bytes, might be */
    const int64_t stride = f->call->out[0].pixel_stride;
    __m512i s[2][2][FOUR], q[2][IG_BYTES_FIRST_STORED / FOUR];
    if (n % 8) memset(q, 0, sizeof q); /* some may be read that are not there */
    for (int32_t j = 0; j * FOUR < n; j += 2, block += 2 * f->cut.packed) {
        const int32_t more = (j + 1) * FOUR < n, *next = more ? block + f->cut.packed : block;
        sums_of(f, block, next, s);
        q[0][j] = four_of(s[0][0], (const float *)block + FOUR, &h), q[1][j] = four_of(s[0][1], (const float *)block + FOUR, &h);
        if (!more) break;
        q[0][j + 1] = four_of(s[1][0], (const float *)next + FOUR, &h), q[1][j + 1] = four_of(s[1][1], (const float *)next + FOUR, &h);
    }
    store(to[0], stride, q[0], n);
    if (vectors == 2) store(to[1], stride, q[1], n);
}

void qlinear_conv_i8_first32x16__vnni(const struct ig_call *call, struct ig_range range, void *scratch)
{
    first_bytes(call, range, scratch, &ig_bytes_first_vnni);
}
