/* Maximum pooling of bytes, any window of two dims that touches the image: pixel by pixel, 16 channels at a time, then one. */
#include <arm_neon.h>

#include "kernels_cpu/common/pool.h"
#include "kernels_cpu/neon/kernels.h"

enum { WIDE = 16 };

#define INLINE static inline __attribute__((always_inline))

INLINE void wide(const struct ig_pool_view *v, int32_t c, uint8_t *out, const int flip)
{
    uint8x16_t most = vdupq_n_u8((uint8_t)flip);
    for (int32_t i = 0; i < v->rows; i++) {
        const uint8_t *p = (const uint8_t *)ig_row(v->in, v->y + i * v->dh, 1) + v->x * v->in->pixel_stride + c;
        for (int32_t j = 0; j < v->columns; j++, p += v->dw * v->in->pixel_stride) {
            uint8x16_t x = vld1q_u8(p);
            most = flip ? vreinterpretq_u8_s8(vmaxq_s8(vreinterpretq_s8_u8(most), vreinterpretq_s8_u8(x))) : vmaxq_u8(most, x);
        }
    }
    vst1q_u8(out, most);
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

void pool_i8_16__neon(const struct ig_call *call, struct ig_range range, void *scratch)
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
