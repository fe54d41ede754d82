/* Maximum pooling of bytes, common/pool_bytes.inc. */
#include <immintrin.h>

#include "kernels_cpu/common/pool.h"
#include "kernels_cpu/avx2/kernels.h"

enum { WIDE = 32 };

static inline __attribute__((always_inline)) void wide(const struct ig_pool_view *v, int32_t c, uint8_t *out, const int flip)
{
    __m256i most = flip ? _mm256_set1_epi8(-128) : _mm256_setzero_si256();
    for (int32_t i = 0; i < v->rows; i++) {
        const uint8_t *p = (const uint8_t *)ig_row(v->in, v->y + i * v->dh, 1) + v->x * v->in->pixel_stride + c;
        for (int32_t j = 0; j < v->columns; j++, p += v->dw * v->in->pixel_stride) {
            __m256i x = _mm256_loadu_si256((const __m256i *)p);
            most = flip ? _mm256_max_epi8(most, x) : _mm256_max_epu8(most, x);
        }
    }
    _mm256_storeu_si256((__m256i *)out, most);
}

#include "kernels_cpu/common/pool_bytes.inc"

void pool_i8_32__avx2(const struct ig_call *call, struct ig_range range, void *scratch)
{
    (void)scratch;
    pool_bytes(call, range);
}
