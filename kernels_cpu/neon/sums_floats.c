/* Four sums at a time. */
#include "kernels_cpu/neon/sums_floats.h"

#include "kernels_cpu/neon/act.h"
#include "kernels_cpu/neon/lanes.h"

#define INTS int32x4_t
#define LOAD_INTS(p) vld1q_s32(p)
#define LOAD_INTS_UPTO(p, n) some_ints(p, n)
#define SPLAT_INT(x) vdupq_n_s32(x)
#define SUB_INTS(a, b) vsubq_s32(a, b)
#define MUL_INTS(a, b) vmulq_s32(a, b)
#define TO_FLOATS(v) vcvtq_f32_s32(v)

static inline int32x4_t some_ints(const int32_t *p, int32_t n)
{
    int32_t room[4] = {0};
    for (int32_t i = 0; i < n; i++) room[i] = p[i];
    return vld1q_s32(room);
}

static void activate(uint8_t *const *to, int64_t at, int32_t rows, int32_t n, const struct ig_act *act)
{
    for (int32_t i = 0; i < rows; i++) ig_act_row_neon((float *)(void *)to[i] + at, (float *)(void *)to[i] + at, n, act);
}

#include "kernels_cpu/common/sums_floats.inc"

void ig_bytes_floats_neon(uint8_t *const *to, int64_t at, int32_t rows, const int32_t *sums, int64_t step, int32_t n,
                          const struct ig_bytes_floats *f)
{
    put_floats(to, at, rows, sums, step, n, f);
}
