/* Transposition of matrices of bytes, for the permutations of common/permute.c. */
#include <arm_neon.h>

#include "kernels_cpu/common/permute.h"
#include "kernels_cpu/neon/kernels.h"

static inline void block_8x8(const uint8_t *src, int64_t s, uint8_t *dst, int64_t d)
{
    uint16x4x2_t pair[4];
    uint32x2x2_t quad[4]; /* columns k and k + 4 of the upper and the lower half of the rows: [k], k even and odd */
    uint8_t *to = dst;
    uint8x8x2_t two[4];
    for (int i = 0; i < 4; i++) two[i] = vtrn_u8(vld1_u8(src + 2 * i * s), vld1_u8(src + (2 * i + 1) * s));
    for (int half = 0; half < 2; half++) {
        pair[2 * half] = vtrn_u16(vreinterpret_u16_u8(two[2 * half].val[0]), vreinterpret_u16_u8(two[2 * half + 1].val[0]));
        pair[2 * half + 1] = vtrn_u16(vreinterpret_u16_u8(two[2 * half].val[1]), vreinterpret_u16_u8(two[2 * half + 1].val[1]));
    }
    for (int k = 0; k < 4; k++)
        quad[k] = vtrn_u32(vreinterpret_u32_u16(pair[k & 1].val[k >> 1]), vreinterpret_u32_u16(pair[2 + (k & 1)].val[k >> 1]));
    for (int k = 0; k < 8; k++, to += d) vst1_u8(to, vreinterpret_u8_u32(quad[k & 3].val[k >> 2]));
}

/* Three rows become pixels. */
static int64_t three_to_pixels(const uint8_t *src, int64_t stride, uint8_t *dst, int64_t n)
{
    int64_t i = 0;
    for (; i + 16 <= n; i += 16) {
        uint8x16x3_t v = {{vld1q_u8(src + i), vld1q_u8(src + stride + i), vld1q_u8(src + 2 * stride + i)}};
        vst3q_u8(dst + 3 * i, v);
    }
    return i;
}

#include "kernels_cpu/common/transpose_bytes.inc"

void transpose_b8_8x8__neon(const struct ig_call *call, struct ig_range range, void *scratch)
{
    (void)scratch;
    ig_permute(call, range, 1, transpose);
}
