/* The k largest or smallest floats of each line, in order, as kernels_cpu/ref/topk.c has it, by a heap. */
#ifndef KERNELS_CPU_COMMON_TOPK_H
#define KERNELS_CPU_COMMON_TOPK_H

#include "kernels_cpu/kernel.h"

struct ig_topk_item {
    float value;
    int32_t index;
};

void ig_topk_rows(const struct ig_call *call, struct ig_range range, struct ig_topk_item *heap);   /* of the last axis */
void ig_topk_across(const struct ig_call *call, struct ig_range range, struct ig_topk_item *heap); /* of another one */

/* k: extent of the outputs along the axis. */
static inline int64_t ig_topk_count(const struct ig_call *call)
{
    const struct ig_shape *to = call->out[0].shape ? call->out[0].shape : call->out[1].shape;
    return to->rank ? to->dims[((const struct ig_topk *)call->attrs)->axis] : 1;
}

#endif
