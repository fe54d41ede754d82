/* y = condition ? a : b, the three numpy-broadcast to the output. */
#include "kernels_cpu/ref/ref.h"
#include "kernels_cpu/ref/walk.h"

int where_any_nd__supports(const struct ig_call *call)
{
    int32_t type = call->out[0].shape->type;
    return call->in[0].shape->type == IG_BOOL && call->in[1].shape->type == type &&
           call->in[2].shape->type == type;
}

void where_any_nd__ref(const struct ig_call *call, struct ig_range range, void *scratch)
{
    const struct ig_operand *out = &call->out[0];
    int bytes = ig_type_bytes(out->shape->type);
    struct ig_walk condition = ig_walk_broadcast(call->in[0].shape, out->shape);
    struct ig_walk a = ig_walk_broadcast(call->in[1].shape, out->shape);
    struct ig_walk b = ig_walk_broadcast(call->in[2].shape, out->shape);
    const uint8_t *yes = call->in[0].data;
    (void)range, (void)scratch;
    for (int64_t i = 0; i < condition.count; i++) {
        if (yes[ig_walk_at(&condition, i)]) ig_move(out->data, i, call->in[1].data, ig_walk_at(&a, i), bytes);
        else ig_move(out->data, i, call->in[2].data, ig_walk_at(&b, i), bytes);
    }
}
