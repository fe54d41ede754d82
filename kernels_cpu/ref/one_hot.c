/* One-hot: a new axis of `depth` elements, values[1] at the index, values[0] elsewhere. */
#include "kernels_cpu/ref/ref_tensor.h"
#include "kernels_cpu/ref/walk.h"

int one_hot_any_nd__supports(const struct ig_call *call)
{
    return call->in[0].shape->type != IG_F16 && call->in[1].shape->type == call->out[0].shape->type;
}

void one_hot_any_nd__ref(const struct ig_call *call, struct ig_range range, void *scratch)
{
    const struct ig_axis *a = call->attrs;
    struct ig_lines l = ig_lines_of(call->out[0].shape, a->axis);
    int bytes = ig_type_bytes(call->out[0].shape->type);
    int64_t count = l.outer * l.n * l.inner;
    (void)range, (void)scratch;
    for (int64_t at = 0; at < count; at++) {
        int64_t o = at / l.inner / l.n, i = at / l.inner % l.n, k = at % l.inner;
        int64_t index = ig_get_int(call->in[0].data, call->in[0].shape->type, o * l.inner + k);
        ig_move(call->out[0].data, at, call->in[1].data, index == i || index + l.n == i, bytes);
    }
}
