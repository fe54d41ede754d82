/* Small questions about a call at build time, for the `supports` functions. */
#ifndef KERNELS_CPU_PACK_ASK_H
#define KERNELS_CPU_PACK_ASK_H

#include "kernels_cpu/kernel.h"

/* Is input i there at all? */
static inline int ig_has(const struct ig_call *call, int i)
{
    return i < call->n_in && call->in[i].shape;
}

static inline int ig_is_f32(const struct ig_operand *o)
{
    return o->shape && o->shape->type == IG_F32;
}

/* Input i is float data known at build time. */
static inline int ig_is_const_f32(const struct ig_call *call, int i)
{
    return ig_has(call, i) && ig_is_f32(&call->in[i]) && call->in[i].data;
}

static inline int ig_same_extent(const struct ig_operand *a, const struct ig_operand *b)
{
    return a->h == b->h && a->w == b->w && a->c == b->c;
}

/* x f32 -> y f32, the first input and output. */
static inline int ig_f32_to_f32(const struct ig_call *call)
{
    return call->n_in >= 1 && call->n_out >= 1 && ig_is_f32(&call->in[0]) && ig_is_f32(&call->out[0]);
}

/* Residual (input 3) absent, or float and of the output's extent. */
static inline int ig_residual_fits(const struct ig_call *call)
{
    return !ig_has(call, 3) || (ig_is_f32(&call->in[3]) && ig_same_extent(&call->in[3], &call->out[0]));
}

/* An activation that every epilogue knows. */
static inline int ig_act_fits(const struct ig_act *act)
{
    return act->kind >= IG_NONE && act->kind < IG_FUSABLE;
}

/* A window over at most two dims, of one image. */
static inline int ig_is_flat(const struct ig_window *w)
{
    return w->kd == 1 && w->in_d == 1 && w->out_d == 1 && w->front == 0 && w->back == 0;
}

/* The same, or one along rows alone: a volume's are then those of an image that has all of them. */
static inline int ig_is_flat_or_row(const struct ig_window *w)
{
    int row = w->kd * w->kh * w->sd * w->sh == 1 && !w->front && !w->back && !w->top && !w->bottom;
    return row || ig_is_flat(w);
}

#endif
