#include "kernels_cpu/common/one_hot.h"

#include "kernels_cpu/common/moves.h"
#include "kernels_cpu/ref/walk.h"

void ig_one_hot(const struct ig_call *call)
{
    const struct ig_operand *in = &call->in[0], *out = &call->out[0];
    const struct ig_lines l = ig_lines_of(out->shape, ((const struct ig_axis *)call->attrs)->axis);
    const int bytes = ig_type_bytes(out->shape->type);
    const char *values = (const char *)call->in[1].data;
    ig_fill_run((char *)out->data, values, l.outer * l.n * l.inner, bytes);
    for (int64_t i = 0; i < l.outer * l.inner; i++) {
        int64_t at = ig_get_int(in->data, in->shape->type, i);
        if (at < 0) at += l.n;
        if (at >= 0 && at < l.n) ig_move(out->data, (i / l.inner * l.n + at) * l.inner + i % l.inner, values, 1, bytes);
    }
}
