/* Operators along axes: Softmax, Reduce*, ArgMax, CumSum, TopK. */
#include "graph/onnx/import.h"

int32_t im_softmax(struct im *m, const struct im_node *n, int32_t x, int64_t opset, int64_t absent)
{
    struct ig_shape s = im_shape(m, x);
    int32_t axis = im_axis(m, im_int(m, n, "axis", absent), s.rank);
    union ig_attrs a = {.axis = {axis, im_op_find(n)->kind}};
    int64_t dims[IG_MAX_RANK], outer = 1, inner = 1;
    for (int i = 0; i < s.rank; i++) {
        dims[i] = s.dims[i];
        *(i < axis ? &outer : &inner) *= s.dims[i];
    }
    if (opset >= 13 || inner == s.dims[axis]) return im_emit1(m, IG_SOFTMAX, 1, &x, &a);
    int32_t flat = im_reshape(m, x, 2, (int64_t[]){outer, inner});
    a.axis.axis = 1;
    return im_reshape(m, im_emit1(m, IG_SOFTMAX, 1, &flat, &a), s.rank, dims);
}

void im_op_softmax(struct im *m, const struct im_node *n)
{
    int32_t x = im_need(m, n, 0);
    im_set(m, n, 0, im_softmax(m, n, x, n->opset, n->opset >= 13 ? -1 : im_shape(m, x).rank > 1));
}

/* A product over no elements, as shape arithmetic has it: Shape of a scalar. */
static int empty_product(struct im *m, const struct im_node *n)
{
    int32_t x = im_in(m, n, 0);
    if (x > IM_EMPTY || im_shape(m, x).rank != 1 || im_op_find(n)->kind != IG_REDUCE_PROD) return 0;
    int32_t one = im_scalar(m, im_shape(m, x).type, 1);
    im_set(m, n, 0, im_int(m, n, "keepdims", 1) ? im_reshape(m, one, 1, (int64_t[]){1}) : one);
    return 1;
}

int32_t im_reduce_axes(struct im *m, const struct im_node *n, int32_t x, const int64_t *axes, int count)
{
    int32_t rank = im_shape(m, x).rank, mask = (1 << rank) - 1;
    if (count > 0) mask = im_mask(m, axes, count, rank);
    if (count <= 0 && im_int(m, n, "noop_with_empty_axes", 0)) mask = 0; /* squares, logarithms ... are made all the same */
    int32_t y = im_reduce(m, im_op_find(n)->kind, x, mask);
    return im_int(m, n, "keepdims", 1) ? y : im_drop_dims(m, y, mask);
}

void im_op_reduce(struct im *m, const struct im_node *n)
{
    int64_t axes[IG_MAX_RANK];
    if (empty_product(m, n)) return;
    int32_t x = im_need(m, n, 0), count = im_ints_from(m, n, 1, "axes", axes, IG_MAX_RANK);
    im_set(m, n, 0, im_reduce_axes(m, n, x, axes, count));
}

void im_op_arg(struct im *m, const struct im_node *n)
{
    int32_t x = im_need(m, n, 0);
    union ig_attrs a = {.arg = {.min = im_op_find(n)->kind}};
    a.arg.axis = im_axis(m, im_int(m, n, "axis", 0), im_shape(m, x).rank);
    a.arg.select_last = im_int(m, n, "select_last_index", 0) != 0;
    int32_t y = im_emit1(m, IG_ARG, 1, &x, &a);
    im_set(m, n, 0, im_int(m, n, "keepdims", 1) ? y : im_drop_dims(m, y, 1 << a.arg.axis));
}

void im_op_cumsum(struct im *m, const struct im_node *n)
{
    int32_t x = im_need(m, n, 0);
    int64_t axis = 0;
    im_const_ints(m, im_need(m, n, 1), "axis", &axis, 1);
    union ig_attrs a = {.cumsum = {im_axis(m, axis, im_shape(m, x).rank), im_int(m, n, "exclusive", 0) != 0,
                                   im_int(m, n, "reverse", 0) != 0}};
    im_set(m, n, 0, im_emit1(m, IG_CUMSUM, 1, &x, &a));
}

void im_op_topk(struct im *m, const struct im_node *n)
{
    int32_t x = im_need(m, n, 0), out[2];
    struct im_emit e = {.op = IG_TOPK, .n_in = 1, .in = &x, .n_out = 2};
    struct ig_shape s = im_shape(m, x);
    int64_t k = im_int(m, n, "k", 0);
    if (im_in(m, n, 1) != IM_ABSENT) im_const_ints(m, im_need(m, n, 1), "k", &k, 1);
    e.attrs.topk.axis = im_axis(m, im_int(m, n, "axis", -1), s.rank);
    e.attrs.topk.largest = im_int(m, n, "largest", 1) != 0;
    if (k < 1 || k > s.dims[e.attrs.topk.axis])
        im_fail(m, "k is %lld of %d", (long long)k, s.dims[e.attrs.topk.axis]);
    s.dims[e.attrs.topk.axis] = (int32_t)k;
    e.given[0] = s;
    e.unwanted = im_wants(m, n, 1) ? 0 : 2;
    im_emit(m, &e, out);
    im_set(m, n, 0, out[0]);
    if (!e.unwanted) im_set(m, n, 1, out[1]);
}
