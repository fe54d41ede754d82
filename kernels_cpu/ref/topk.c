/* The k largest (or smallest) of each line, sorted; of equal elements the lower index comes first. */
#include "kernels_cpu/ref/ref_tensor.h"
#include "kernels_cpu/ref/walk.h"

int topk_any_nd__supports(const struct ig_call *call)
{
    return call->in[0].shape->type != IG_F16 && (!call->out[1].shape || call->out[1].shape->type == IG_I64);
}

/* Does element i of the line at `base` come before element j? */
static int before(const struct ig_operand *in, const struct ig_lines *l, int64_t base, int32_t largest,
                  int64_t i, int64_t j)
{
    int order = ig_order(in->data, in->shape->type, base + i * l->inner, base + j * l->inner);
    if (!largest) order = -order;
    return order > 0 || (order == 0 && i < j);
}

/* The first in order of those that come after element `last` (-1: of all). */
static int64_t next(const struct ig_operand *in, const struct ig_lines *l, int64_t base, int32_t largest,
                    int64_t last)
{
    int64_t best = -1;
    for (int64_t i = 0; i < l->n; i++) {
        if (last >= 0 && !before(in, l, base, largest, last, i)) continue;
        if (best < 0 || before(in, l, base, largest, i, best)) best = i;
    }
    return best;
}

void topk_any_nd__ref(const struct ig_call *call, struct ig_range range, void *scratch)
{
    const struct ig_topk *a = call->attrs;
    const struct ig_operand *in = &call->in[0];
    const struct ig_shape *to = call->out[0].shape ? call->out[0].shape : call->out[1].shape;
    struct ig_lines l = ig_lines_of(in->shape, a->axis);
    int64_t k = to->rank ? to->dims[a->axis] : 1;
    int64_t *indices = call->out[1].data;
    (void)range, (void)scratch;
    for (int64_t line = 0; line < l.outer * l.inner; line++) {
        int64_t o = line / l.inner, in_line = line % l.inner, base = o * l.n * l.inner + in_line, last = -1;
        for (int64_t i = 0; i < k; i++) {
            int64_t at = (o * k + i) * l.inner + in_line;
            last = next(in, &l, base, a->largest, last);
            if (call->out[0].data)
                ig_move(call->out[0].data, at, in->data, base + last * l.inner,
                        ig_type_bytes(in->shape->type));
            if (indices) indices[at] = last;
        }
    }
}
