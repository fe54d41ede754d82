/* Scatters: a copy of x, into which the updates are written or reduced, in their row-major order. */
#include <math.h>

#include "kernels_cpu/ref/ref_tensor.h"
#include "kernels_cpu/ref/walk.h"

int scatter_any_nd__supports(const struct ig_call *call)
{
    const struct ig_axis *a = call->attrs;
    int32_t type = call->in[0].shape->type, index = call->in[1].shape->type;
    return ig_ref_moves(call) && call->in[2].shape->type == type && (index == IG_I32 || index == IG_I64) &&
           (a->mode == IG_SCATTER_NONE || type != IG_F16);
}

static double join_real(int32_t mode, double a, double b)
{
    if (mode == IG_SCATTER_ADD) return a + b;
    if (mode == IG_SCATTER_MUL) return a * b;
    return mode == IG_SCATTER_MAX ? fmax(a, b) : fmin(a, b);
}

static int64_t join_int(int32_t mode, int64_t a, int64_t b)
{
    if (mode == IG_SCATTER_ADD) return (int64_t)((uint64_t)a + (uint64_t)b);
    if (mode == IG_SCATTER_MUL) return (int64_t)((uint64_t)a * (uint64_t)b);
    return (mode == IG_SCATTER_MAX) == (a > b) ? a : b;
}

/* out[at] = out[at] joined with update i */
static void update(const struct ig_call *call, int32_t mode, int64_t at, int64_t i)
{
    int32_t type = call->out[0].shape->type;
    void *out = call->out[0].data;
    const void *from = call->in[2].data;
    if (mode == IG_SCATTER_NONE) ig_move(out, at, from, i, ig_type_bytes(type));
    else if (type == IG_F32)
        ig_put_real(out, type, at, join_real(mode, ig_get_real(out, type, at), ig_get_real(from, type, i)));
    else ig_put_int(out, type, at, join_int(mode, ig_get_int(out, type, at), ig_get_int(from, type, i)));
}

void scatter_elements_any_nd__ref(const struct ig_call *call, struct ig_range range, void *scratch)
{
    const struct ig_axis *a = call->attrs;
    const struct ig_shape *s = call->in[0].shape;
    const struct ig_operand *indices = &call->in[1];
    int64_t n = s->dims[a->axis], stride = ig_span(s, a->axis + 1, s->rank);
    struct ig_walk w = {.count = 1};
    (void)range, (void)scratch;
    memcpy(call->out[0].data, call->in[0].data, (size_t)ig_bytes(s));
    for (int d = 0; d < s->rank; d++)
        ig_walk_add(&w, indices->shape->dims[d], d == a->axis ? 0 : ig_span(s, d + 1, s->rank));
    for (int64_t i = 0; i < w.count; i++)
        update(call, a->mode, ig_walk_at(&w, i) + ig_get_index(indices, i, n) * stride, i);
}

/* indices [T.., k], updates [T.., rest]: the slice out[tuple, :] for every tuple */
void scatter_nd_any_nd__ref(const struct ig_call *call, struct ig_range range, void *scratch)
{
    const struct ig_axis *a = call->attrs;
    const struct ig_shape *s = call->in[0].shape, *is = call->in[1].shape;
    int k = is->dims[is->rank - 1];
    int64_t run = ig_span(s, k, s->rank), tuples = ig_span(is, 0, is->rank - 1);
    (void)range, (void)scratch;
    memcpy(call->out[0].data, call->in[0].data, (size_t)ig_bytes(s));
    for (int64_t t = 0; t < tuples; t++) {
        int64_t at = 0;
        for (int d = 0; d < k; d++) at = at * s->dims[d] + ig_get_index(&call->in[1], t * k + d, s->dims[d]);
        for (int64_t i = 0; i < run; i++) update(call, a->mode, at * run + i, t * run + i);
    }
}
