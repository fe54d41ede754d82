/* Reductions of floats over neighbouring dims, common/reduce.inc. */
#include "kernels_cpu/neon/kernels.h"
#include "kernels_cpu/neon/vec.h"

enum { N = 4 };

#define VEC float32x4_t
#define SPLAT(x) vdupq_n_f32(x)
#define LOAD(p) vld1q_f32(p)
#define LOAD_PART(p, n) ig_load_part(p, n)
#define STORE(p, v) vst1q_f32(p, v)
#define ADD(a, b) vaddq_f32(a, b)
#define FMA(sum, a, b) vfmaq_f32(sum, a, b)
#define ABS(x) vabsq_f32(x)
#define MAX(a, b) vmaxq_f32(a, b)
#define MIN(a, b) vminq_f32(a, b)
#include "kernels_cpu/common/reduce.inc"

void reduce_f32_4__neon(const struct ig_call *call, struct ig_range range, void *scratch)
{
    (void)range, (void)scratch;
    reduce_any(call);
}
