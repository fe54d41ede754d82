/*
 * Sums, differences, products, quotients, maxima and minima of two tensors of halves, eight elements at a time, with a clamp behind or nothing.
 *
 * A result of halves is that of floats, rounded: floats have twice a half's eleven bits and two more, so that rounding twice is
 * rounding once (Figueroa, When is double rounding innocuous?, 1995). A clamp comes after the rounding, with rounded bounds.
 */
#include <arm_neon.h>
#include <string.h>

#include "kernels_cpu/common/binary.h"
#include "kernels_cpu/fp16/kernels.h"

#define INLINE static inline __attribute__((always_inline))

enum { LANES = 8 };

struct run {                  /* of elements one after the other */
    const uint16_t *a, *b;
    int a_one, b_one;         /* the operand is one element for the whole run */
    uint16_t *y;              /* may be a or b */
    int64_t n;
};

struct clamp {
    float16x8_t lo, hi;
};

typedef float16x8_t binary8(float16x8_t a, float16x8_t b);

INLINE float16x8_t load(const uint16_t *p)
{
    return vreinterpretq_f16_u16(vld1q_u16(p));
}

INLINE float16x8_t load_part(const uint16_t *p, int64_t n)
{
    uint16_t room[LANES] = {0};
    memcpy(room, p, (size_t)n * sizeof *p);
    return load(room);
}

INLINE uint16x8_t result(float16x8_t a, float16x8_t b, struct clamp clamp, binary8 *f)
{
    return vreinterpretq_u16_f16(vminq_f16(vmaxq_f16(f(a, b), clamp.lo), clamp.hi));
}

INLINE void loop(const struct run *r, struct clamp clamp, int a_one, int b_one, binary8 *f)
{
    float16x8_t a = vreinterpretq_f16_u16(vld1q_dup_u16(r->a)), b = vreinterpretq_f16_u16(vld1q_dup_u16(r->b));
    int64_t i = 0;
    for (; i + LANES <= r->n; i += LANES) {
        if (!a_one) a = load(r->a + i);
        if (!b_one) b = load(r->b + i);
        vst1q_u16(r->y + i, result(a, b, clamp, f));
    }
    if (i == r->n) return;
    uint16_t room[LANES];
    if (!a_one) a = load_part(r->a + i, r->n - i);
    if (!b_one) b = load_part(r->b + i, r->n - i);
    vst1q_u16(room, result(a, b, clamp, f));
    memcpy(r->y + i, room, (size_t)(r->n - i) * sizeof *room);
}

INLINE void run_of(const struct run *r, struct clamp clamp, binary8 *f)
{
    if (r->a_one) loop(r, clamp, 1, r->b_one, f);
    else if (r->b_one) loop(r, clamp, 0, 1, f);
    else loop(r, clamp, 0, 0, f);
}

static void run(const struct run *r, struct clamp clamp, int32_t kind)
{
    switch (kind) {
    case IG_ADD: run_of(r, clamp, vaddq_f16); break;
    case IG_SUB: run_of(r, clamp, vsubq_f16); break;
    case IG_MUL: run_of(r, clamp, vmulq_f16); break;
    case IG_DIV: run_of(r, clamp, vdivq_f16); break;
    case IG_MAX: run_of(r, clamp, vmaxq_f16); break;
    default: run_of(r, clamp, vminq_f16); break;
    }
}

static struct clamp clamp_of(const struct ig_act *act)
{
    const float inf = __builtin_inff();
    float lo = act->kind == IG_RELU ? 0 : act->kind == IG_CLIP ? act->alpha : -inf;
    return (struct clamp){vdupq_n_f16((__fp16)lo), vdupq_n_f16((__fp16)(act->kind == IG_CLIP ? act->beta : inf))};
}

static const uint16_t *first_of(const struct ig_operand *o, const struct ig_operand *out, int32_t y, int32_t c0)
{
    return (const uint16_t *)ig_row(o, ig_binary_row(o, out, y), 2) + (o->c == 1 ? 0 : c0);
}

void binary_f16_8__fp16(const struct ig_call *call, struct ig_range range, void *scratch)
{
    const struct ig_operand *a = &call->in[0], *b = &call->in[1], *out = &call->out[0];
    const struct ig_binary_attr *attr = (const struct ig_binary_attr *)call->attrs;
    const struct clamp clamp = clamp_of(&attr->act);
    const int64_t a_step = a->w == 1 ? 0 : a->pixel_stride, b_step = b->w == 1 ? 0 : b->pixel_stride;
    const int whole = ig_binary_is_whole(call, range);
    (void)scratch;
    for (int32_t y = range.y0; y < range.y1; y++) {
        struct run r = {first_of(a, out, y, range.c0), first_of(b, out, y, range.c0), a->c == 1, b->c == 1,
                        (uint16_t *)ig_row(out, y, 2) + range.c0, range.c1 - range.c0};
        if (whole) {
            r.a_one = a->w == 1 && a->c == 1;
            r.b_one = b->w == 1 && b->c == 1;
            r.n *= out->w;
        }
        for (int32_t x = 0; x < (whole ? 1 : out->w); x++, r.a += a_step, r.b += b_step, r.y += out->pixel_stride) run(&r, clamp, attr->kind);
    }
}
