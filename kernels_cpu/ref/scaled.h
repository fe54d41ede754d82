/* Outputs of products of integers: sums of 32 bits, or the floats that scales make of them. */
#ifndef KERNELS_CPU_REF_SCALED_H
#define KERNELS_CPU_REF_SCALED_H

#include "kernels_cpu/ref/quantized.h"

enum { IG_X_SCALE = 4, IG_W_SCALE, IG_SUM_BIAS }; /* inputs of IG_CONV_INTEGER, IG_MATMUL_INTEGER */

static inline int ig_takes(const struct ig_call *call, int k)
{
    return k < call->n_in && call->in[k].shape;
}

static inline int ig_is_sum(const struct ig_call *call)
{
    return call->out[0].shape->type == (ig_takes(call, IG_X_SCALE) ? IG_F32 : IG_I32);
}

/* Output i, of channel c: the sum, or act(sum (x_scale w_scale) + bias), each step rounded to a float. */
static inline void ig_put_sum(const struct ig_call *call, const struct ig_act *act, void *out, int64_t i, int64_t c, int32_t sum)
{
    if (!ig_takes(call, IG_X_SCALE)) {
        ((int32_t *)out)[i] = sum;
        return;
    }
    const float scale = ig_scale(call, IG_X_SCALE, 0) * (ig_takes(call, IG_W_SCALE) ? ig_scale(call, IG_W_SCALE, c) : 1);
    float y = (float)sum * scale;
    if (ig_takes(call, IG_SUM_BIAS)) y += ig_scale(call, IG_SUM_BIAS, c);
    ((float *)out)[i] = (float)ig_ref_act(act, y);
}

#endif
