/* Maximum pooling of bytes, any window of two dims that touches the image: pixel by pixel, 32 channels at a time, then one. */
#include <immintrin.h>

#include "kernels_cpu/common/pool.h"
#include "kernels_cpu/avx2/kernels.h"

enum { WIDE = 32 };

#define INLINE static inline __attribute__((always_inline))

INLINE void wide(const struct ig_pool_view *v, int32_t c, uint8_t *out, const int flip)
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

INLINE void one(const struct ig_pool_view *v, int32_t c, uint8_t *out, const int flip)
{
    int32_t most = 0;
    for (int32_t i = 0; i < v->rows; i++) {
        const uint8_t *p = (const uint8_t *)ig_row(v->in, v->y + i * v->dh, 1) + v->x * v->in->pixel_stride + c;
        for (int32_t j = 0; j < v->columns; j++, p += v->dw * v->in->pixel_stride)
            if ((*p ^ flip) > most) most = *p ^ flip;
    }
    *out = (uint8_t)(most ^ flip);
}

/* i8 are u8 with the sign flipped. */
INLINE void pixel(const struct ig_pool_view *v, struct ig_range range, uint8_t *out, const int flip)
{
    int32_t c = range.c0;
    for (; c + WIDE <= range.c1; c += WIDE) wide(v, c, out + c, flip);
    for (; c < range.c1; c++) one(v, c, out + c, flip);
}

void pool_i8_32__avx2(const struct ig_call *call, struct ig_range range, void *scratch)
{
    const struct ig_operand *out = &call->out[0];
    const int is_signed = out->shape->type == IG_I8;
    (void)scratch;
    for (int32_t y = range.y0; y < range.y1; y++)
        for (int32_t x = 0; x < out->w; x++) {
            struct ig_pool_view v = ig_pool_view_of(call, y, x);
            uint8_t *p = (uint8_t *)ig_row(out, y, 1) + x * out->pixel_stride;
            if (is_signed) pixel(&v, range, p, 128);
            else pixel(&v, range, p, 0);
        }
}
