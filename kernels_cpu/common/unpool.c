/* The loop of unpool.h: an index is a place. */
#include "kernels_cpu/common/unpool.h"

#include <string.h>

void ig_unpool(const struct ig_call *call)
{
    const float *x = (const float *)call->in[0].data;
    const int64_t *indices = (const int64_t *)call->in[1].data, n = ig_count(call->in[0].shape), most = ig_count(call->out[0].shape);
    float *y = (float *)call->out[0].data;
    memset(y, 0, (size_t)most * sizeof *y);
    for (int64_t i = 0; i < n; i++)
        if (indices[i] >= 0 && indices[i] < most) y[indices[i]] = x[i];
}
