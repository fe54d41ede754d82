/* Bytes by a table, common/lookup.h: four TBL of 64 entries each, which leave what is beyond theirs. */
#include <arm_neon.h>

#include "kernels_cpu/common/lookup.h"
#include "kernels_cpu/neon/kernels.h"

enum { STEP = 16 };

static void run(uint8_t *y, const uint8_t *x, int64_t n, const uint8_t *table)
{
    const uint8x16x4_t a = vld1q_u8_x4(table), b = vld1q_u8_x4(table + 64), c = vld1q_u8_x4(table + 128), d = vld1q_u8_x4(table + 192);
    const uint8x16_t next = vdupq_n_u8(64);
    for (int64_t i = 0; i < n; i += STEP) {
        uint8x16_t at = vld1q_u8(x + i), v = vqtbl4q_u8(a, at);
        at = vsubq_u8(at, next), v = vqtbx4q_u8(v, b, at);
        at = vsubq_u8(at, next), v = vqtbx4q_u8(v, c, at);
        at = vsubq_u8(at, next), v = vqtbx4q_u8(v, d, at);
        vst1q_u8(y + i, v);
    }
}

void lookup_b8_16__neon(const struct ig_call *call, struct ig_range range, void *scratch)
{
    (void)scratch;
    ig_lookup_rows(call, range, (const uint8_t *)call->in[1].data, STEP, run);
}
