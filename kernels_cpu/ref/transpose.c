/* Permutation of dimensions: y[i0, i1, ...] = x with index perm[d] running as i_d. */
#include "kernels_cpu/ref/ref_tensor.h"
#include "kernels_cpu/ref/walk.h"

void transpose_any_nd__ref(const struct ig_call *call, struct ig_range range, void *scratch)
{
    const struct ig_transpose *a = call->attrs;
    const struct ig_shape *s = call->in[0].shape;
    struct ig_walk w = {.count = 1};
    (void)range, (void)scratch;
    for (int d = 0; d < s->rank; d++)
        ig_walk_add(&w, s->dims[a->perm[d]], ig_span(s, a->perm[d] + 1, s->rank));
    ig_walk_copy(&w, call->out[0].data, call->in[0].data, 0, ig_type_bytes(s->type));
}
