/* Triangle of the matrices in the last two dims: keeps column - row >= k (upper) or <= k (lower), else 0. */
#include "kernels_cpu/ref/ref_tensor.h"
#include "kernels_cpu/ref/walk.h"

int triu_any_nd__supports(const struct ig_call *call)
{
    return ig_ref_moves(call) && call->in[0].shape->rank >= 2;
}

void triu_any_nd__ref(const struct ig_call *call, struct ig_range range, void *scratch)
{
    const struct ig_triu *a = call->attrs;
    const struct ig_shape *s = call->in[0].shape;
    int64_t rows = s->dims[s->rank - 2], columns = s->dims[s->rank - 1], count = ig_count(s);
    int bytes = ig_type_bytes(s->type);
    (void)range, (void)scratch;
    for (int64_t i = 0; i < count; i++) {
        int64_t diagonal = i % columns - i / columns % rows;
        if (a->upper ? diagonal >= a->k : diagonal <= a->k)
            ig_move(call->out[0].data, i, call->in[0].data, i, bytes);
        else memset((char *)call->out[0].data + i * bytes, 0, (size_t)bytes);
    }
}
