/* Convolution of quantised numbers by products of four bytes: avx2/conv_bytes.c, of twice as many multiply-adds an instruction. */
#define DOT(sum, x, w) _mm256_dpbusd_avx_epi32(sum, x, w)
#include "kernels_cpu/avx2/conv_bytes.inc"

#include "kernels_cpu/avx2/sums_floats.h"
#include "kernels_cpu/avxvnni/kernels.h"

static inline void flip_32(char *to, const uint8_t *from, __m256i flip)
{
    _mm256_storeu_si256((__m256i *)to, _mm256_xor_si256(_mm256_loadu_si256((const __m256i *)from), flip));
}

static inline void flip_16(char *to, const uint8_t *from, __m256i flip)
{
    _mm_storeu_si128((__m128i *)to, _mm_xor_si128(_mm_loadu_si128((const __m128i *)from), _mm256_castsi256_si128(flip)));
}

static inline void flip_8(char *to, const uint8_t *from, __m256i flip)
{
    _mm_storel_epi64((__m128i *)to, _mm_xor_si128(_mm_loadl_epi64((const __m128i *)from), _mm256_castsi256_si128(flip)));
}

/* The last ones overlap what is there. */
static inline void fill(void *to, const uint8_t *from, int64_t n, const struct ig_bytes_head *head)
{
    const __m256i flip = _mm256_set1_epi8((char)head->flip);
    char *p = (char *)to;
    if (n < 8) {
        for (int64_t i = 0; i < n; i++) p[i] = (char)(from[i] ^ head->flip);
    } else if (n < 16) {
        flip_8(p, from, flip);
        flip_8(p + n - 8, from + n - 8, flip);
    } else if (n < 32) {
        flip_16(p, from, flip);
        flip_16(p + n - 16, from + n - 16, flip);
    } else {
        for (int64_t i = 0; i < n - 32; i += 32) flip_32(p + i, from + i, flip);
        flip_32(p + n - 32, from + n - 32, flip);
    }
}

#define TOTAL(from, n) ig_bytes_total_avx2(from, n)
#include "kernels_cpu/common/conv_bytes.inc"

void qlinear_conv_i8_6x16__avxvnni(const struct ig_call *call, struct ig_range range, void *scratch)
{
    conv_bytes(call, range, scratch, &ig_bytes_avxvnni);
}

void conv_integer_i8_6x16__avxvnni(const struct ig_call *call, struct ig_range range, void *scratch)
{
    run_bytes(call, range, scratch, &ig_bytes_avxvnni, ig_bytes_floats_avx2);
}

void matmul_integer_i8_6x16__avxvnni(const struct ig_call *call, struct ig_range range, void *scratch)
{
    product_bytes(call, range, scratch, &ig_bytes_avxvnni, ig_bytes_floats_avx2);
}
