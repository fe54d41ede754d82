/* Indexed reads and writes. Constant indices are checked here; the kernels clamp those of run time. */
#include "graph/onnx/import.h"

static int64_t index_at(const struct im *m, int32_t v, int64_t i)
{
    const void *data = m->g->values[v].data;
    return m->g->values[v].shape.type == IG_I64 ? ((const int64_t *)data)[i] : ((const int32_t *)data)[i];
}

/* Element i of constant indices addresses dim limits[i % n_limits]. */
static void check_indices(struct im *m, int32_t v, const int32_t *limits, int n_limits)
{
    struct ig_shape s = im_shape(m, v);
    if (!im_is_const(m, v) || (s.type != IG_I64 && s.type != IG_I32)) return;
    for (int64_t i = 0; i < ig_count(&s); i++) {
        int64_t index = index_at(m, v, i);
        int32_t limit = limits[i % n_limits];
        if (index < -limit || index >= limit)
            im_misfit(m, "index %lld is outside 0..%d", (long long)index, limit - 1);
    }
}

static void gather_along(struct im *m, const struct im_node *n, enum ig_op op)
{
    int32_t in[2] = {im_need(m, n, 0), im_need(m, n, 1)};
    struct ig_shape s = im_shape(m, in[0]);
    union ig_attrs a = {.axis = {im_axis(m, im_int(m, n, "axis", 0), s.rank), 0}};
    check_indices(m, in[1], &s.dims[a.axis.axis], 1);
    im_set(m, n, 0, im_emit1(m, op, 2, in, &a));
}

/* Constant indices that go up by equal steps, as one alone does: *start and *step, those that count from the end made others. */
static int is_progression(const struct im *m, int32_t v, int32_t dim, int32_t *start, int32_t *step)
{
    const struct ig_shape s = im_shape(m, v);
    const int64_t n = ig_count(&s);
    if (v < 0 || !im_is_const(m, v) || (s.type != IG_I64 && s.type != IG_I32)) return 0;
    int64_t last = -1, by = 0;
    for (int64_t i = 0; i < n; i++) {
        const int64_t at = index_at(m, v, i) < 0 ? index_at(m, v, i) + dim : index_at(m, v, i);
        if (at <= last || at >= dim || (i > 1 && at - last != by)) return 0;
        by = at - last, last = at;
        if (!i) *start = (int32_t)at;
    }
    *step = n > 1 ? (int32_t)by : 1;
    return n > 0;
}

/* Such a Gather is a slice, which may be no copy. */
void im_op_gather(struct im *m, const struct im_node *n)
{
    const int32_t x = im_need(m, n, 0), indices = im_need(m, n, 1);
    const struct ig_shape s = im_shape(m, x), by = im_shape(m, indices);
    const int32_t axis = im_axis(m, im_int(m, n, "axis", 0), s.rank);
    int32_t start[IG_MAX_RANK] = {0}, step[IG_MAX_RANK], rank = 0;
    int64_t extent[IG_MAX_RANK], dims[2 * IG_MAX_RANK];
    if (s.rank - 1 + by.rank > IG_MAX_RANK || !is_progression(m, indices, s.dims[axis], &start[axis], &step[axis])) {
        gather_along(m, n, IG_GATHER);
        return;
    }
    for (int d = 0; d < s.rank; d++) {
        if (d != axis) step[d] = 1, dims[rank++] = s.dims[d];
        for (int k = 0; d == axis && k < by.rank; k++) dims[rank++] = by.dims[k];
        extent[d] = d == axis ? ig_count(&by) : s.dims[d];
    }
    im_set(m, n, 0, im_reshape(m, im_slice(m, x, start, step, extent), rank, dims));
}

void im_op_gather_elements(struct im *m, const struct im_node *n)
{
    gather_along(m, n, IG_GATHER_ELEMENTS);
}

/* Rows of constant indices address the dims of x after the first `batch`. */
static void check_nd(struct im *m, int32_t x, int32_t indices, int32_t batch)
{
    struct ig_shape sx = im_shape(m, x), si = im_shape(m, indices);
    int32_t depth = si.rank ? si.dims[si.rank - 1] : 0;
    if (depth >= 1 && depth <= sx.rank - batch) check_indices(m, indices, sx.dims + batch, depth);
}

void im_op_gather_nd(struct im *m, const struct im_node *n)
{
    int32_t in[2] = {im_need(m, n, 0), im_need(m, n, 1)};
    union ig_attrs a = {.axis = {im_int32(m, n, "batch_dims", 0, 0, IG_MAX_RANK), 0}};
    check_nd(m, in[0], in[1], a.axis.axis);
    im_set(m, n, 0, im_emit1(m, IG_GATHER_ND, 2, in, &a));
}

static int32_t reduction(struct im *m, const struct im_node *n)
{
    static const char *const kinds[] = {"none", "add", "mul", "max", "min", NULL};
    return im_choice(m, n, "reduction", "none", kinds);
}

void im_op_scatter_elements(struct im *m, const struct im_node *n)
{
    int32_t in[3] = {im_need(m, n, 0), im_need(m, n, 1), im_need(m, n, 2)};
    struct ig_shape s = im_shape(m, in[0]);
    union ig_attrs a = {.axis = {im_axis(m, im_int(m, n, "axis", 0), s.rank), reduction(m, n)}};
    check_indices(m, in[1], &s.dims[a.axis.axis], 1);
    im_set(m, n, 0, im_emit1(m, IG_SCATTER_ELEMENTS, 3, in, &a));
}

void im_op_scatter_nd(struct im *m, const struct im_node *n)
{
    int32_t in[3] = {im_need(m, n, 0), im_need(m, n, 1), im_need(m, n, 2)};
    union ig_attrs a = {.axis = {0, reduction(m, n)}};
    check_nd(m, in[0], in[1], 0);
    im_set(m, n, 0, im_emit1(m, IG_SCATTER_ND, 3, in, &a));
}

/* [n,1] or [1,n] of i * step. */
static int32_t count_up(struct im *m, int32_t n, int32_t step, int down)
{
    void *data;
    struct ig_shape s = im_make_shape(m, IG_I64, 2, down ? (int64_t[]){n, 1} : (int64_t[]){1, n});
    int32_t v = im_const(m, &s, &data);
    for (int64_t i = 0; i < n; i++) ((int64_t *)data)[i] = i * step;
    return v;
}

static void check_lengths(struct im *m, int32_t lengths, int32_t times, int32_t batch)
{
    struct ig_shape s = im_shape(m, lengths);
    if (s.rank != 1 || s.dims[0] != batch || s.type != IG_I64) im_fail(m, "sequence_lens must be int64 of %d elements", batch);
    for (int64_t i = 0; im_is_const(m, lengths) && i < batch; i++)
        if (index_at(m, lengths, i) < 1 || index_at(m, lengths, i) > times)
            im_fail(m, "a sequence of %lld elements, of %d", (long long)index_at(m, lengths, i), times);
}

/* A gather of the first two dims as one: step t of a sequence of n steps from n - 1 - t, of those behind it from t. */
void im_op_reverse_sequence(struct im *m, const struct im_node *n)
{
    int32_t x = im_need(m, n, 0), lengths = im_need(m, n, 1), by_time = !im_int32(m, n, "time_axis", 0, 0, 1);
    struct ig_shape s = im_shape(m, x);
    int64_t dims[IG_MAX_RANK] = {0};
    if (im_int32(m, n, "batch_axis", 1, 0, 1) != by_time) im_fail(m, "time_axis and batch_axis are the same");
    if (s.rank < 2) im_fail(m, "data of rank %d has no sequences", s.rank);
    int32_t times = s.dims[!by_time], batch = s.dims[by_time];
    check_lengths(m, lengths, times, batch);
    int32_t t = count_up(m, times, 1, by_time), length = im_reshape(m, lengths, 2, by_time ? (int64_t[]){1, batch} : (int64_t[]){batch, 1});
    int32_t back = im_binary(m, IG_SUB, im_binary(m, IG_SUB, length, im_scalar(m, IG_I64, 1)), t);
    int32_t from = im_emit1(m, IG_WHERE, 3, (int32_t[]){im_binary(m, IG_LESS, t, length), back, t}, NULL);
    from = im_binary(m, IG_MUL, from, im_scalar(m, IG_I64, by_time ? batch : 1));
    from = im_binary(m, IG_ADD, from, count_up(m, batch, by_time ? 1 : times, !by_time));
    dims[0] = (int64_t)s.dims[0] * s.dims[1];
    for (int d = 2; d < s.rank; d++) dims[d - 1] = s.dims[d];
    union ig_attrs a = {.axis = {0, 0}};
    im_set(m, n, 0, im_emit1(m, IG_GATHER, 2, (int32_t[]){im_reshape(m, x, s.rank - 1, dims), from}, &a));
}
