/* Convolution of quantised numbers whose groups are of few channels, common/grouped_bytes.h: products of four bytes, 16 channels at a time. */
#include "kernels_cpu/avx512/put_bytes.h"
#include "kernels_cpu/vnni/kernels.h"

#define INLINE static inline __attribute__((always_inline))
#define SUMS __m512i
#define WORDS __m512i
#define WEIGHTS __m512i
#define LANES __m512i

enum { MOST = 14 };

INLINE __m512i load_sums(const int32_t *p)
{
    return _mm512_loadu_si512(p);
}

INLINE void store_sums(int32_t *p, __m512i s)
{
    _mm512_storeu_si512(p, s);
}

INLINE __m512i load_weights(const int32_t *p)
{
    return _mm512_loadu_si512(p);
}

INLINE __m512i load_lanes(const int8_t *p)
{
    return _mm512_loadu_si512(p);
}

INLINE __m512i words_of(const char *p, __m512i lanes, const int spread)
{
    int32_t word;
    __builtin_memcpy(&word, p, sizeof word);
    if (!spread) return _mm512_set1_epi32(word);
    return _mm512_shuffle_epi8(_mm512_broadcast_i32x4(_mm_loadu_si128((const __m128i *)p)), lanes);
}

INLINE __m512i dot(__m512i s, __m512i x, __m512i w, const int spread)
{
    (void)spread;
    return _mm512_dpbusd_epi32(s, x, w);
}

#include "kernels_cpu/common/grouped_bytes.inc"

void qlinear_conv_i8_grouped16__vnni(const struct ig_call *call, struct ig_range range, void *scratch)
{
    static const struct ig_bytes_grouped_set set = {&ig_bytes_grouped_vnni, MOST, tile, ig_bytes_grouped_copy, ig_bytes_put_quads};
    ig_bytes_grouped(call, range, scratch, &set);
}
