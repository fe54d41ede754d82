/*
 * Gathers: whole slices along an axis, single elements along an axis, slices by index tuples. Negative
 * indices count from the end.
 */
#include "kernels_cpu/ref/ref_tensor.h"
#include "kernels_cpu/ref/walk.h"

int gather_any_nd__supports(const struct ig_call *call)
{
    int32_t type = call->in[1].shape->type;
    return ig_ref_moves(call) && (type == IG_I32 || type == IG_I64);
}

void gather_any_nd__ref(const struct ig_call *call, struct ig_range range, void *scratch)
{
    const struct ig_axis *a = call->attrs;
    const struct ig_operand *indices = &call->in[1];
    struct ig_lines l = ig_lines_of(call->in[0].shape, a->axis);
    int64_t run = l.inner * ig_type_bytes(call->in[0].shape->type), count = ig_count(indices->shape);
    char *out = call->out[0].data;
    (void)range, (void)scratch;
    for (int64_t o = 0; o < l.outer; o++)
        for (int64_t i = 0; i < count; i++, out += run)
            memcpy(out, (const char *)call->in[0].data + (o * l.n + ig_get_index(indices, i, l.n)) * run,
                   (size_t)run);
}

/* y[.., i, ..] = x[.., index[.., i, ..], ..] */
void gather_elements_any_nd__ref(const struct ig_call *call, struct ig_range range, void *scratch)
{
    const struct ig_axis *a = call->attrs;
    const struct ig_shape *s = call->in[0].shape;
    const struct ig_operand *indices = &call->in[1];
    int64_t n = s->dims[a->axis], stride = ig_span(s, a->axis + 1, s->rank);
    struct ig_walk w = {.count = 1};
    (void)range, (void)scratch;
    for (int d = 0; d < s->rank; d++)
        ig_walk_add(&w, indices->shape->dims[d], d == a->axis ? 0 : ig_span(s, d + 1, s->rank));
    for (int64_t i = 0; i < w.count; i++)
        ig_move(call->out[0].data, i, call->in[0].data,
                ig_walk_at(&w, i) + ig_get_index(indices, i, n) * stride, ig_type_bytes(s->type));
}

/* indices [B.., T.., k] -> y [B.., T.., rest]: the slice x[b.., tuple, :] of every tuple; B is `axis` dims */
void gather_nd_any_nd__ref(const struct ig_call *call, struct ig_range range, void *scratch)
{
    const struct ig_axis *a = call->attrs;
    const struct ig_shape *s = call->in[0].shape, *is = call->in[1].shape;
    int k = is->dims[is->rank - 1];
    int64_t run = ig_span(s, a->axis + k, s->rank) * ig_type_bytes(s->type);
    int64_t tuples = ig_span(is, 0, is->rank - 1), per_batch = ig_span(is, a->axis, is->rank - 1);
    (void)range, (void)scratch;
    for (int64_t t = 0; t < tuples; t++) {
        int64_t at = t / per_batch;
        for (int d = 0; d < k; d++) {
            int32_t n = s->dims[a->axis + d];
            at = at * n + ig_get_index(&call->in[1], t * k + d, n);
        }
        memcpy((char *)call->out[0].data + t * run, (const char *)call->in[0].data + at * run, (size_t)run);
    }
}
