/* Concatenation along one axis: each input is, per outer index, one run of the output. */
#include "kernels_cpu/ref/ref_tensor.h"
#include "kernels_cpu/ref/walk.h"

void concat_any_nd__ref(const struct ig_call *call, struct ig_range range, void *scratch)
{
    const struct ig_axis *a = call->attrs;
    struct ig_lines to = ig_lines_of(call->out[0].shape, a->axis);
    int bytes = ig_type_bytes(call->out[0].shape->type);
    char *out = call->out[0].data;
    (void)range, (void)scratch;
    for (int64_t o = 0; o < to.outer; o++)
        for (int i = 0; i < call->n_in; i++) {
            struct ig_lines from = ig_lines_of(call->in[i].shape, a->axis);
            int64_t run = from.n * from.inner * bytes;
            memcpy(out, (const char *)call->in[i].data + o * run, (size_t)run);
            out += run;
        }
}
