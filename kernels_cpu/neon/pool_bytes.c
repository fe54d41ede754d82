/* Maximum pooling of bytes, common/pool_bytes.inc. */
#include <arm_neon.h>

#include "kernels_cpu/common/pool.h"
#include "kernels_cpu/neon/kernels.h"

enum { WIDE = 16 };

static inline __attribute__((always_inline)) void wide(const struct ig_pool_view *v, int32_t c, uint8_t *out, const int flip)
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

#include "kernels_cpu/common/pool_bytes.inc"

void pool_i8_16__neon(const struct ig_call *call, struct ig_range range, void *scratch)
{
    (void)scratch;
    pool_bytes(call, range);
}
