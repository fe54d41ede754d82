/* Resize by taps, common/resize_taps.inc. */
#include "kernels_cpu/neon/kernels.h"
#include "kernels_cpu/neon/vec.h"

enum { N = 4 };

#define VEC float32x4_t
#define SPLAT(x) vdupq_n_f32(x)
#define LOAD_UPTO(p, n) ig_load_upto4(p, n)
#define STORE_UPTO(p, v, n) ig_store_upto4(p, v, n)
#define MUL(a, b) vmulq_f32(a, b)
#define FMA(sum, a, b) vfmaq_f32(sum, a, b)
#include "kernels_cpu/common/resize_taps.inc"

void resize_f32_taps__neon(const struct ig_call *call, struct ig_range range, void *scratch)
{
    resize_taps(call, range, (struct ig_resize_taps *)scratch);
}
