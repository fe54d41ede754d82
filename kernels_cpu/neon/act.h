/* Activations: as a clamp in registers where that is all there is to do, else as a pass over what was just stored. */
#ifndef KERNELS_CPU_NEON_ACT_H
#define KERNELS_CPU_NEON_ACT_H

#include <arm_neon.h>
#include <stdint.h>

#include "graph/op.h"

/* y[i] = act(x[i]), i in [0, n); y may be x. Each result depends on its own element only. */
void ig_act_row_neon(float *y, const float *x, int64_t n, const struct ig_act *act);
/* 1 if ig_act_row_neon knows the kind. */
int ig_act_known_neon(int32_t kind);

/* 1 if the activation is min(max(x, lo), hi), which ig_act_clamp gives; else it takes ig_act_row_neon. */
static inline int ig_act_is_clamp(const struct ig_act *act)
{
    return act->kind == IG_NONE || act->kind == IG_RELU || act->kind == IG_CLIP;
}

struct ig_clamp {
    float lo, hi;
};

/* The clamp of an activation; of one that is none, and of IG_NONE: from -inf to inf. */
static inline struct ig_clamp ig_act_clamp(const struct ig_act *act)
{
    struct ig_clamp c = {-__builtin_inff(), __builtin_inff()};
    if (act->kind == IG_RELU) c.lo = 0;
    if (act->kind == IG_CLIP) {
        c.lo = act->alpha;
        c.hi = act->beta;
    }
    return c;
}

static inline float32x4_t ig_clamp4(float32x4_t x, float32x4_t lo, float32x4_t hi)
{
    return vminq_f32(vmaxq_f32(x, lo), hi);
}

#endif
