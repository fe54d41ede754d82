/* Element-wise functions of two operands: the loops over a run; kernels_cpu/common/binary.c finds the runs.
 */
#include "kernels_cpu/common/binary.h"
#include "kernels_cpu/neon/act.h"
#include "kernels_cpu/neon/kernels.h"
#include "kernels_cpu/neon/vec.h"

#define INLINE static inline __attribute__((always_inline))

typedef float32x4_t binary4(float32x4_t a, float32x4_t b);

INLINE float32x4_t prelu4(float32x4_t x, float32x4_t slope)
{
    return vbslq_f32(vcltzq_f32(x), vmulq_f32(x, slope), x);
}

INLINE void loop(const struct ig_binary_run *r, int a_one, int b_one, binary4 *f)
{
    float32x4_t a = vld1q_dup_f32(r->a), b = vld1q_dup_f32(r->b);
    int64_t i = 0;
    for (; i + 4 <= r->n; i += 4) {
        if (!a_one) a = vld1q_f32(r->a + i);
        if (!b_one) b = vld1q_f32(r->b + i);
        vst1q_f32(r->y + i, f(a, b));
    }
    if (i == r->n) return;
    if (!a_one) a = ig_load_part(r->a + i, r->n - i);
    if (!b_one) b = ig_load_part(r->b + i, r->n - i);
    ig_store_part(r->y + i, f(a, b), r->n - i);
}

INLINE void pixels_of(struct ig_binary_run r, int a_one, int b_one, int32_t pixels, struct ig_binary_steps steps,
                      binary4 *f)
{
    for (; pixels > 0; pixels--, r.a += steps.a, r.b += steps.b, r.y += steps.y) loop(&r, a_one, b_one, f);
}

INLINE void run_of(const struct ig_binary_run *r, int32_t pixels, struct ig_binary_steps steps, binary4 *f)
{
    if (r->a_one)
        pixels_of(*r, 1, r->b_one, pixels, steps, f);
    else if (r->b_one)
        pixels_of(*r, 0, 1, pixels, steps, f);
    else
        pixels_of(*r, 0, 0, pixels, steps, f);
}

static void run(const struct ig_binary_run *r, int32_t kind, int32_t pixels, struct ig_binary_steps steps)
{
    switch (kind) {
    case IG_ADD: run_of(r, pixels, steps, vaddq_f32); break;
    case IG_SUB: run_of(r, pixels, steps, vsubq_f32); break;
    case IG_MUL: run_of(r, pixels, steps, vmulq_f32); break;
    case IG_DIV: run_of(r, pixels, steps, vdivq_f32); break;
    case IG_MAX: run_of(r, pixels, steps, vmaxq_f32); break;
    case IG_MIN: run_of(r, pixels, steps, vminq_f32); break;
    case IG_PRELU: run_of(r, pixels, steps, prelu4); break;
    default: break;
    }
}

void binary_f32_4__neon(const struct ig_call *call, struct ig_range range, void *scratch)
{
    static const struct ig_binary_loops loops = {run, ig_act_row_neon, NULL};
    (void)scratch;
    ig_binary_rows(call, range, &loops);
}

void binary_f32_nd4__neon(const struct ig_call *call, struct ig_range range, void *scratch)
{
    binary_f32_4__neon(call, range, scratch);
}
