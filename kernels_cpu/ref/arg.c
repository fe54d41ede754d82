/* Arg max and arg min along one axis: index of the first extreme, or of the last with select_last. */
#include "kernels_cpu/ref/ref_tensor.h"
#include "kernels_cpu/ref/walk.h"

int arg_any_nd__supports(const struct ig_call *call)
{
    return call->in[0].shape->type != IG_F16 && call->out[0].shape->type == IG_I64;
}

static int64_t extreme(const struct ig_operand *in, const struct ig_lines *l, int64_t base,
                       const struct ig_arg *a)
{
    int64_t best = 0;
    for (int64_t i = 1; i < l->n; i++) {
        int order = ig_order(in->data, in->shape->type, base + i * l->inner, base + best * l->inner);
        if (a->min) order = -order;
        if (order > 0 || (order == 0 && a->select_last)) best = i;
    }
    return best;
}

void arg_any_nd__ref(const struct ig_call *call, struct ig_range range, void *scratch)
{
    const struct ig_arg *a = call->attrs;
    struct ig_lines l = ig_lines_of(call->in[0].shape, a->axis);
    int64_t *out = call->out[0].data;
    (void)range, (void)scratch;
    for (int64_t o = 0; o < l.outer; o++)
        for (int64_t k = 0; k < l.inner; k++)
            out[o * l.inner + k] = extreme(&call->in[0], &l, o * l.n * l.inner + k, a);
}
