/* Repetition: numpy broadcast to the output's shape (expand), and whole copies side by side (tile). */
#include "kernels_cpu/ref/ref_tensor.h"
#include "kernels_cpu/ref/walk.h"

void expand_any_nd__ref(const struct ig_call *call, struct ig_range range, void *scratch)
{
    const struct ig_shape *s = call->in[0].shape;
    struct ig_walk w = ig_walk_broadcast(s, call->out[0].shape);
    (void)range, (void)scratch;
    ig_walk_copy(&w, call->out[0].data, call->in[0].data, 0, ig_type_bytes(s->type));
}

void tile_any_nd__ref(const struct ig_call *call, struct ig_range range, void *scratch)
{
    const struct ig_shape *s = call->in[0].shape, *to = call->out[0].shape;
    struct ig_walk w = {.count = 1};
    (void)range, (void)scratch;
    for (int d = 0; d < s->rank; d++) {
        ig_walk_add(&w, to->dims[d] / s->dims[d], 0);
        ig_walk_add(&w, s->dims[d], ig_span(s, d + 1, s->rank));
    }
    ig_walk_copy(&w, call->out[0].data, call->in[0].data, 0, ig_type_bytes(s->type));
}
