/* Strided slice: y[i] = x[start + i * step] in every dimension; steps may be negative. */
#include "kernels_cpu/ref/ref_tensor.h"
#include "kernels_cpu/ref/walk.h"

void slice_any_nd__ref(const struct ig_call *call, struct ig_range range, void *scratch)
{
    const struct ig_slice *a = call->attrs;
    const struct ig_shape *s = call->in[0].shape, *to = call->out[0].shape;
    struct ig_walk w = {.count = 1};
    int64_t base = 0;
    (void)range, (void)scratch;
    for (int d = 0; d < s->rank; d++) {
        int64_t stride = ig_span(s, d + 1, s->rank);
        base += a->start[d] * stride;
        ig_walk_add(&w, to->dims[d], a->step[d] * stride);
    }
    ig_walk_copy(&w, call->out[0].data, call->in[0].data, base, ig_type_bytes(s->type));
}
