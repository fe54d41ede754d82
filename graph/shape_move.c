/* Shapes of ops that only move data. */
#include "graph/shape_internal.h"

int infer_reshape(struct infer *q)
{
    const struct ig_shape *x = infer_want(q, 0, T_EDGE, 0, IG_MAX_RANK),
                          *y = x ? infer_given(q, 0, T_EDGE) : NULL;
    char from[128], to[128];
    if (!y) return -1;
    if (ig_count(x) != ig_count(y))
        return infer_fail(q, "%s cannot be reshaped to %s", infer_text(x, from), infer_text(y, to));
    q->g->values[q->n->out[0]].shape.type = x->type;
    return 0;
}

int infer_transpose(struct infer *q)
{
    const int32_t *perm = q->n->attrs.transpose.perm;
    const struct ig_shape *x = infer_want(q, 0, T_EDGE, 0, IG_MAX_RANK);
    int64_t dims[IG_MAX_RANK];
    int seen = 0;
    if (!x) return -1;
    for (int i = 0; i < x->rank; i++) {
        if (perm[i] < 0 || perm[i] >= x->rank || seen >> perm[i] & 1)
            return infer_fail(q, "perm is not a permutation of %d dimensions", x->rank);
        seen |= 1 << perm[i];
        dims[i] = x->dims[perm[i]];
    }
    return infer_set(q, 0, x->type, x->rank, dims);
}

int infer_concat(struct infer *q)
{
    int32_t axis = q->n->attrs.axis.axis;
    const struct ig_shape *x = infer_want(q, 0, T_EDGE, 1, IG_MAX_RANK);
    int64_t dims[IG_MAX_RANK];
    if (!x || infer_axis(q, axis, x->rank)) return -1;
    for (int k = 0; k < x->rank; k++)
        dims[k] = x->dims[k];
    for (int i = 1; i < q->n->n_in; i++) {
        const struct ig_shape *b = infer_want(q, i, 1 << x->type, x->rank, x->rank);
        if (!b) return -1;
        for (int k = 0; k < x->rank; k++)
            if (k != axis && b->dims[k] != x->dims[k])
                return infer_fail(q, "input %d differs from input 0 in dimension %d (%d, %d)", i, k,
                                  b->dims[k], x->dims[k]);
        dims[axis] += b->dims[axis];
    }
    return infer_set(q, 0, x->type, x->rank, dims);
}

int infer_slice(struct infer *q)
{
    const struct ig_slice *a = &q->n->attrs.slice;
    const struct ig_shape *x = infer_want(q, 0, T_EDGE, 0, IG_MAX_RANK),
                          *y = x ? infer_given(q, 0, T_EDGE) : NULL;
    if (!y) return -1;
    if (y->rank != x->rank) return infer_fail(q, "data and output differ in rank");
    for (int i = 0; i < x->rank; i++) {
        int64_t last = a->start[i] + (int64_t)(y->dims[i] - 1) * a->step[i];
        if (a->start[i] < 0 || a->start[i] >= x->dims[i] || last < 0 || last >= x->dims[i])
            return infer_fail(q, "the slice leaves dimension %d of %d", i, x->dims[i]);
    }
    q->g->values[q->n->out[0]].shape.type = x->type;
    return 0;
}

int infer_pad(struct infer *q)
{
    const struct ig_pad *a = &q->n->attrs.pad;
    const struct ig_shape *x = infer_want(q, 0, T_ANY, 0, IG_MAX_RANK);
    int64_t dims[IG_MAX_RANK];
    if (!x) return -1;
    for (int i = 0; i < x->rank; i++) {
        int64_t d = x->dims[i], b = a->begin[i], e = a->end[i];
        if (-b >= d || -e >= d) return infer_fail(q, "negative padding removes all of dimension %d", i);
        if (a->mode == IG_PAD_REFLECT && (b >= d || e >= d))
            return infer_fail(q, "reflection padding must be smaller than dimension %d (%lld)", i,
                              (long long)d);
        dims[i] = d + b + e;
    }
    return infer_set(q, 0, x->type, x->rank, dims);
}

int infer_expand(struct infer *q)
{
    const struct ig_shape *x = infer_want(q, 0, T_ANY, 0, IG_MAX_RANK),
                          *y = x ? infer_given(q, 0, T_ANY) : NULL;
    char from[128], to[128];
    if (!y) return -1;
    int bad = x->rank > y->rank;
    for (int i = 0; i < x->rank && !bad; i++)
        bad = x->dims[i] != 1 && x->dims[i] != y->dims[y->rank - x->rank + i];
    if (bad) return infer_fail(q, "%s does not expand to %s", infer_text(x, from), infer_text(y, to));
    q->g->values[q->n->out[0]].shape.type = x->type;
    return 0;
}

int infer_tile(struct infer *q)
{
    const struct ig_shape *x = infer_want(q, 0, T_ANY, 0, IG_MAX_RANK),
                          *y = x ? infer_given(q, 0, T_ANY) : NULL;
    if (!y) return -1;
    if (y->rank != x->rank) return infer_fail(q, "data and output differ in rank");
    for (int i = 0; i < x->rank; i++)
        if (y->dims[i] % x->dims[i]) return infer_fail(q, "dimension %d is not a multiple of the data's", i);
    q->g->values[q->n->out[0]].shape.type = x->type;
    return 0;
}

/* Appends dims [from, to) of s; -1 when the rank grows too high. */
static int append(struct infer *q, int64_t *dims, int32_t *rank, const struct ig_shape *s, int from, int to)
{
    for (int i = from; i < to; i++) {
        if (*rank == IG_MAX_RANK) return infer_fail(q, "the output's rank is above %d", IG_MAX_RANK);
        dims[(*rank)++] = s->dims[i];
    }
    return 0;
}

int infer_gather(struct infer *q)
{
    int32_t axis = q->n->attrs.axis.axis, rank = 0;
    const struct ig_shape *x = infer_want(q, 0, T_ANY, 1, IG_MAX_RANK),
                          *i = x ? infer_want(q, 1, T_INDEX, 0, IG_MAX_RANK) : NULL;
    int64_t dims[IG_MAX_RANK];
    if (!i || infer_axis(q, axis, x->rank)) return -1;
    if (append(q, dims, &rank, x, 0, axis) || append(q, dims, &rank, i, 0, i->rank) ||
        append(q, dims, &rank, x, axis + 1, x->rank))
        return -1;
    return infer_set(q, 0, x->type, rank, dims);
}

/* Indices may be smaller than the data in every dimension but `axis`, where they may be larger. */
static int check_elements(struct infer *q, const struct ig_shape *x, const struct ig_shape *i, int32_t axis)
{
    if (i->rank != x->rank) return infer_fail(q, "data and indices differ in rank");
    for (int k = 0; k < x->rank; k++)
        if (k != axis && i->dims[k] > x->dims[k])
            return infer_fail(q, "the indices exceed dimension %d of the data", k);
    return 0;
}

int infer_gather_elements(struct infer *q)
{
    int32_t axis = q->n->attrs.axis.axis;
    const struct ig_shape *x = infer_want(q, 0, T_ANY, 1, IG_MAX_RANK),
                          *i = x ? infer_want(q, 1, T_INDEX, 1, IG_MAX_RANK) : NULL;
    if (!i || infer_axis(q, axis, x->rank) || check_elements(q, x, i, axis)) return -1;
    return infer_like(q, 0, i, x->type);
}

int infer_scatter_elements(struct infer *q)
{
    int32_t axis = q->n->attrs.axis.axis;
    const struct ig_shape *x = infer_want(q, 0, T_ANY, 1, IG_MAX_RANK),
                          *i = x ? infer_want(q, 1, T_INDEX, 1, IG_MAX_RANK) : NULL;
    const struct ig_shape *u = i ? infer_want(q, 2, 1 << x->type, 1, IG_MAX_RANK) : NULL;
    if (!u || infer_axis(q, axis, x->rank) || check_elements(q, x, i, axis)) return -1;
    if (u->rank != i->rank) return infer_fail(q, "indices and updates differ in rank");
    for (int k = 0; k < i->rank; k++)
        if (u->dims[k] != i->dims[k]) return infer_fail(q, "indices and updates differ in shape");
    return infer_like(q, 0, x, x->type);
}

/* Indices [..., depth] whose last dim addresses `depth` dims of x after the first `batch`. */
static int check_nd(struct infer *q, const struct ig_shape *x, const struct ig_shape *i, int32_t batch)
{
    if (batch < 0 || batch >= x->rank || batch >= i->rank)
        return infer_fail(q, "batch_dims %d does not fit", batch);
    if (i->dims[i->rank - 1] > x->rank - batch)
        return infer_fail(q, "indices of %d elements for data of rank %d", i->dims[i->rank - 1], x->rank);
    for (int k = 0; k < batch; k++)
        if (x->dims[k] != i->dims[k])
            return infer_fail(q, "data and indices differ in batch dimension %d", k);
    return 0;
}

int infer_gather_nd(struct infer *q)
{
    int32_t batch = q->n->attrs.axis.axis, rank = 0;
    const struct ig_shape *x = infer_want(q, 0, T_ANY, 1, IG_MAX_RANK),
                          *i = x ? infer_want(q, 1, T_INDEX, 1, IG_MAX_RANK) : NULL;
    int64_t dims[IG_MAX_RANK];
    if (!i || check_nd(q, x, i, batch)) return -1;
    if (append(q, dims, &rank, i, 0, i->rank - 1) ||
        append(q, dims, &rank, x, batch + i->dims[i->rank - 1], x->rank))
        return -1;
    return infer_set(q, 0, x->type, rank, dims);
}

int infer_scatter_nd(struct infer *q)
{
    const struct ig_shape *x = infer_want(q, 0, T_ANY, 1, IG_MAX_RANK),
                          *i = x ? infer_want(q, 1, T_INDEX, 1, IG_MAX_RANK) : NULL;
    const struct ig_shape *u = i ? infer_want(q, 2, 1 << x->type, 0, IG_MAX_RANK) : NULL;
    int64_t dims[IG_MAX_RANK];
    int32_t rank = 0;
    if (!u || check_nd(q, x, i, 0)) return -1;
    if (append(q, dims, &rank, i, 0, i->rank - 1) || append(q, dims, &rank, x, i->dims[i->rank - 1], x->rank))
        return -1;
    int bad = u->rank != rank;
    for (int k = 0; k < rank && !bad; k++)
        bad = u->dims[k] != dims[k];
    if (bad) return infer_fail(q, "the updates' shape does not fit data and indices");
    return infer_like(q, 0, x, x->type);
}

int infer_one_hot(struct infer *q)
{
    int32_t axis = q->n->attrs.axis.axis, rank = 0;
    const struct ig_shape *i = infer_want(q, 0, T_INDEX, 0, IG_MAX_RANK - 1),
                          *v = i ? infer_want(q, 1, T_ANY, 1, 1) : NULL;
    const struct ig_shape *y = v ? infer_given(q, 0, T_ANY) : NULL;
    int64_t dims[IG_MAX_RANK];
    if (!y || infer_axis(q, axis, i->rank + 1)) return -1;
    if (v->dims[0] != 2 || y->rank != i->rank + 1) return infer_fail(q, "values must be [off, on]");
    append(q, dims, &rank, i, 0, axis);
    dims[rank++] = y->dims[axis];
    append(q, dims, &rank, i, axis, i->rank);
    return infer_set(q, 0, v->type, rank, dims);
}

int infer_topk(struct infer *q)
{
    int32_t axis = q->n->attrs.topk.axis;
    const struct ig_shape *x = infer_want(q, 0, T_NUMBER, 1, IG_MAX_RANK);
    int first = q->n->n_out && q->n->out[0] >= 0 ? 0 : 1;
    const struct ig_shape *y = x ? infer_given(q, first, T_ANY) : NULL;
    int64_t dims[IG_MAX_RANK];
    if (!y || infer_axis(q, axis, x->rank)) return -1;
    int64_t k = axis < y->rank ? y->dims[axis] : 0;
    if (k < 1 || k > x->dims[axis])
        return infer_fail(q, "k %lld is outside 1..%d", (long long)k, x->dims[axis]);
    for (int i = 0; i < x->rank; i++)
        dims[i] = i == axis ? k : x->dims[i];
    return infer_set(q, 0, x->type, x->rank, dims) || infer_set(q, 1, IG_I64, x->rank, dims) ? -1 : 0;
}

int infer_resize(struct infer *q)
{
    const struct ig_resize *a = &q->n->attrs.resize;
    const struct ig_shape *x = infer_want(q, 0, a->mode == IG_NEAREST ? T_F32 | T_BYTE : T_F32, 1, IG_MAX_RANK),
                          *y = x ? infer_given(q, 0, 1 << x->type) : NULL;
    if (!y) return -1;
    if (y->rank != x->rank) return infer_fail(q, "data and output differ in rank");
    for (int i = 0; i < x->rank; i++)
        if (!(a->scale[i] > 0 && a->scale[i] < 1e9f))
            return infer_fail(q, "scale of dimension %d is not positive", i);
    return 0;
}
