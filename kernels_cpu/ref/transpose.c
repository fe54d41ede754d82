/* Permutation of dimensions: y[i0, i1, ...] = x with index perm[d] running as i_d. */
#include "kernels_cpu/ref/ref_tensor.h"
#include "kernels_cpu/ref/walk.h"

void transpose_any_nd__ref(const struct ig_call *call, struct ig_range range, void *scratch)
{
    const struct ig_transpose *a = call->attrs;
    const struct ig_shape *s = call->in[0].shape;
    struct ig_walk w = {.count = 1};
    (void)scratch;
    for (int d = 0; d < s->rank; d++)
        ig_walk_add(&w, s->dims[a->perm[d]], ig_span(s, a->perm[d] + 1, s->rank));
    const struct ig_operand *out = &call->out[0];
    int64_t row = (int64_t)out->w * out->c;
    int bytes = ig_type_bytes(s->type);
    for (int32_t y = range.y0; y < range.y1; y++)
        for (int64_t i = 0; i < row; i++)
            ig_move(ig_row(out, y, bytes), i, call->in[0].data, ig_walk_at(&w, y * row + i), bytes);
}
