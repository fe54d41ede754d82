/* Integers of 8 and 32 bits to floats; others, common/cast.h. */
#include <arm_neon.h>

#include "kernels_cpu/neon/kernels.h"
#include "kernels_cpu/common/cast.h"

#define INLINE static inline __attribute__((always_inline))

INLINE void eight(float *y, const void *p, const int type)
{
    int32x4_t low, high;
    if (type == IG_I32) {
        low = vld1q_s32((const int32_t *)p);
        high = vld1q_s32((const int32_t *)p + 4);
    } else {
        const int16x8_t wide = type == IG_I8 ? vmovl_s8(vld1_s8((const int8_t *)p)) : vreinterpretq_s16_u16(vmovl_u8(vld1_u8((const uint8_t *)p)));
        low = vmovl_s16(vget_low_s16(wide));
        high = vmovl_high_s16(wide);
    }
    vst1q_f32(y, vcvtq_f32_s32(low));
    vst1q_f32(y + 4, vcvtq_f32_s32(high));
}

INLINE float one(const void *p, const int type)
{
    return type == IG_I32 ? (float)*(const int32_t *)p : type == IG_I8 ? (float)*(const int8_t *)p : (float)*(const uint8_t *)p;
}

INLINE void run_of(float *y, const char *x, int64_t n, const int type, const int bytes)
{
    int64_t i = 0;
    for (; i + 8 <= n; i += 8) eight(y + i, x + i * bytes, type);
    for (; i < n; i++) y[i] = one(x + i * bytes, type);
}

static void run(void *y, const char *x, int64_t n, int from, int to)
{
    (void)to;
    if (from == IG_I32) run_of((float *)y, x, n, IG_I32, 4);
    else if (from == IG_I8) run_of((float *)y, x, n, IG_I8, 1);
    else run_of((float *)y, x, n, IG_U8, 1);
}

void cast_f32_8__neon(const struct ig_call *call, struct ig_range range, void *scratch)
{
    (void)scratch;
    ig_cast_rows(call, range, run);
}

void cast_any_runs__neon(const struct ig_call *call, struct ig_range range, void *scratch)
{
    (void)scratch;
    ig_cast_rows(call, range, ig_cast_any);
}
