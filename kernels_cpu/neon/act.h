/* Activations: as a clamp in registers where that is all there is to do, else as a pass over what was just
 * stored. */
#ifndef KERNELS_CPU_NEON_ACT_H
#define KERNELS_CPU_NEON_ACT_H

#include <arm_neon.h>
#include <stdint.h>

#include "graph/op.h"

/* y[i] = act(x[i]), i in [0, n); y may be x. Each result depends on its own element only. */
void ig_act_row_neon(float *y, const float *x, int64_t n, const struct ig_act *act);

struct ig_clamp {
    float32x4_t lo, hi; /* min(max(x, lo), hi) */
    int later;          /* the activation is another one: nothing is clamped, ig_act_row_neon follows */
};

static inline struct ig_clamp ig_act_clamp(const struct ig_act *act)
{
    float inf = __builtin_inff();
    float lo = act->kind == IG_RELU ? 0 : act->kind == IG_CLIP ? act->alpha : -inf;
    float hi = act->kind == IG_CLIP ? act->beta : inf;
    struct ig_clamp clamp = {vdupq_n_f32(lo), vdupq_n_f32(hi), act->kind > IG_CLIP};
    return clamp;
}

static inline float32x4_t ig_clamp4(float32x4_t x, const struct ig_clamp *clamp)
{
    return vminq_f32(vmaxq_f32(x, clamp->lo), clamp->hi);
}

#endif
