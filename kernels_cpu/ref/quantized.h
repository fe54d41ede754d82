/* Parameters of quantised operators: scales and zero points that are one number or one per row or channel. */
#ifndef KERNELS_CPU_REF_QUANTIZED_H
#define KERNELS_CPU_REF_QUANTIZED_H

#include <math.h>

#include "kernels_cpu/ref/act.h"
#include "kernels_cpu/ref/element.h"

/* Element i of input k, or its only one; 0 where it is absent. */
static inline double ig_parameter(const struct ig_call *call, int k, int64_t i)
{
    const struct ig_operand *o = &call->in[k];
    if (k >= call->n_in || !o->shape) return 0;
    return ig_get_real(o->data, o->shape->type, ig_count(o->shape) > 1 ? i : 0);
}

/* y saturated to u8 or i8; NaN becomes the least value. */
static inline int64_t ig_saturated(double y, int32_t type)
{
    double lo = type == IG_I8 ? -128 : 0;
    return (int64_t)(y > lo ? ig_ref_clamp(y, lo, lo + 255) : lo);
}

/* Element i of input k, a scale. */
static inline float ig_scale(const struct ig_call *call, int k, int64_t i)
{
    return (float)ig_parameter(call, k, i);
}

/*
 * acc times x_scale w_scale / y_scale, each step rounded to a float; then rounded half to even, plus zero, saturated to
 * u8 or i8. onnxruntime's kernels compute these numbers, too.
 */
static inline int64_t ig_requantized(int64_t acc, float x_scale, float w_scale, float y_scale, double zero, int32_t type)
{
    float scale = x_scale * w_scale / y_scale;
    return ig_saturated(rint((float)acc * scale) + zero, type);
}

/* What outputs of u8 or i8 lie between, after an activation: none or clip, whose bounds are such numbers. */
static inline void ig_quantized_bounds(const struct ig_act *act, int32_t type, int32_t *low, int32_t *high)
{
    int32_t least = type == IG_I8 ? -128 : 0;
    *low = act->kind == IG_CLIP && act->alpha > (float)least ? (int32_t)act->alpha : least;
    *high = act->kind == IG_CLIP && act->beta < (float)(least + 255) ? (int32_t)act->beta : least + 255;
}

static inline int ig_is_byte(const struct ig_operand *o)
{
    return o->shape->type == IG_U8 || o->shape->type == IG_I8;
}

#endif
