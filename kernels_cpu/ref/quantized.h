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

/* acc times scale, rounded half to even, plus zero, saturated to u8 or i8. */
static inline int64_t ig_requantized(int64_t acc, double scale, double zero, int32_t type)
{
    return ig_saturated(rint((double)acc * scale) + zero, type);
}

static inline int ig_is_byte(const struct ig_operand *o)
{
    return o->shape->type == IG_U8 || o->shape->type == IG_I8;
}

#endif
