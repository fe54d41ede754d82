/* Shapes of products, element-wise ops and reductions. */
#include "graph/shape_internal.h"

int infer_fc(struct infer *q)
{
    const struct ig_shape *x = infer_want(q, 0, T_F32, 1, IG_MAX_RANK),
                          *w = x ? infer_want(q, 1, T_F32, 2, 2) : NULL;
    if (!w) return -1;
    const struct ig_shape *bias = infer_in(q, 2);
    if (x->dims[x->rank - 1] != w->dims[1])
        return infer_fail(q, "weights for %d inputs do not fit rows of %d", w->dims[1], x->dims[x->rank - 1]);
    if (bias && (bias->rank != 1 || bias->dims[0] != w->dims[0] || bias->type != IG_F32))
        return infer_fail(q, "the bias does not fit %d outputs", w->dims[0]);
    struct ig_shape y = *x;
    y.dims[y.rank - 1] = w->dims[0];
    return infer_like(q, 0, &y, IG_F32);
}

/* Shape of a x b (after transposes) with numpy's broadcast of the leading dims. */
static int product(struct infer *q, const struct ig_shape *a, const struct ig_shape *b, int ta, int tb,
                   int32_t type)
{
    struct ig_shape batch_b = *b;
    int64_t dims[IG_MAX_RANK];
    int32_t rank = a->rank - 2;
    int32_t m = a->dims[a->rank - (ta ? 1 : 2)], k = a->dims[a->rank - (ta ? 2 : 1)];
    int32_t kb = b->dims[b->rank - (tb ? 1 : 2)], n = b->dims[b->rank - (tb ? 2 : 1)];
    if (k != kb) return infer_fail(q, "inner dimensions %d and %d differ", k, kb);
    for (int i = 0; i < rank; i++)
        dims[i] = a->dims[i];
    batch_b.rank -= 2;
    if (infer_broadcast(q, dims, &rank, &batch_b)) return -1;
    dims[rank] = m;
    dims[rank + 1] = n;
    return infer_set(q, 0, type, rank + 2, dims);
}

int infer_matmul(struct infer *q)
{
    const struct ig_matmul *t = &q->n->attrs.matmul;
    const struct ig_shape *a = infer_want(q, 0, T_F32, 2, IG_MAX_RANK),
                          *b = a ? infer_want(q, 1, T_F32, 2, IG_MAX_RANK) : NULL;
    return b ? product(q, a, b, t->trans_a, t->trans_b, IG_F32) : -1;
}

int infer_matmul_integer(struct infer *q)
{
    const struct ig_shape *a = infer_want(q, 0, T_BYTE, 2, IG_MAX_RANK),
                          *b = a ? infer_want(q, 1, T_BYTE, 2, IG_MAX_RANK) : NULL;
    if (!b || infer_parameter(q, 2, T_BYTE, a->dims[a->rank - 2]) || infer_parameter(q, 3, T_BYTE, b->dims[b->rank - 1]))
        return -1;
    return infer_scales(q, b->dims[b->rank - 1]) ? -1 : product(q, a, b, 0, 0, infer_in(q, 4) ? IG_F32 : IG_I32);
}

int infer_qlinear_matmul(struct infer *q)
{
    static const int types[8] = {T_BYTE, T_F32, T_BYTE, T_BYTE, T_F32, T_BYTE, T_F32, T_BYTE};
    for (int i = 0; i < 8; i++)
        if (!infer_want(q, i, types[i], i == 0 || i == 3 ? 2 : 0, IG_MAX_RANK)) return -1;
    const struct ig_shape *a = infer_in(q, 0), *b = infer_in(q, 3);
    const int64_t most[8] = {[1] = a->dims[a->rank - 2], [2] = a->dims[a->rank - 2],
                             [4] = b->dims[b->rank - 1], [5] = b->dims[b->rank - 1], [6] = 1, [7] = 1};
    for (int i = 1; i < 8; i++)
        if (i != 3 && infer_parameter(q, i, types[i], most[i])) return -1;
    return product(q, a, b, 0, 0, infer_in(q, 7)->type);
}

static int unary_types(int32_t kind)
{
    switch (kind) {
    case IG_NONE:
        return T_ANY;
    case IG_RELU:
    case IG_ABS:
    case IG_NEG:
    case IG_SIGN:
        return T_F32 | T_INT;
    case IG_NOT:
        return T_BOOL;
    case IG_BITWISE_NOT:
        return T_INT;
    default:
        return T_F32;
    }
}

int infer_unary(struct infer *q)
{
    int32_t kind = q->n->attrs.unary.act.kind;
    if (kind < 0 || kind >= IG_UNARIES) return infer_fail(q, "unary kind %d is not known", kind);
    const struct ig_shape *x = infer_want(q, 0, unary_types(kind), 0, IG_MAX_RANK);
    if (!x) return -1;
    return infer_like(q, 0, x, kind == IG_ISINF || kind == IG_ISNAN ? IG_BOOL : x->type);
}

static int binary_types(int32_t kind)
{
    if (kind == IG_EQUAL) return T_ANY;
    if (kind == IG_AND || kind == IG_OR || kind == IG_XOR) return T_BOOL;
    if (kind >= IG_BIT_AND) return T_INT;
    return T_NUMBER;
}

int infer_binary(struct infer *q)
{
    int32_t kind = q->n->attrs.binary.kind;
    if (kind < 0 || kind >= IG_BINARIES) return infer_fail(q, "binary kind %d is not known", kind);
    const struct ig_shape *a = infer_want(q, 0, binary_types(kind), 0, IG_MAX_RANK);
    const struct ig_shape *b = a ? infer_want(q, 1, binary_types(kind), 0, IG_MAX_RANK) : NULL;
    int64_t dims[IG_MAX_RANK];
    int32_t rank = 0;
    if (!b) return -1;
    if (a->type != b->type) return infer_fail(q, "the two inputs differ in type");
    if (infer_broadcast(q, dims, &rank, a) || infer_broadcast(q, dims, &rank, b)) return -1;
    if (kind == IG_PRELU && rank != a->rank)
        return infer_fail(q, "the slope has a higher rank than the data");
    return infer_set(q, 0, kind >= IG_EQUAL && kind <= IG_XOR ? IG_BOOL : a->type, rank, dims);
}

int infer_where(struct infer *q)
{
    const struct ig_shape *c = infer_want(q, 0, T_BOOL, 0, IG_MAX_RANK),
                          *a = c ? infer_want(q, 1, T_ANY, 0, IG_MAX_RANK) : NULL;
    const struct ig_shape *b = a ? infer_want(q, 2, T_ANY, 0, IG_MAX_RANK) : NULL;
    int64_t dims[IG_MAX_RANK];
    int32_t rank = 0;
    if (!b) return -1;
    if (a->type != b->type) return infer_fail(q, "the two branches differ in type");
    if (infer_broadcast(q, dims, &rank, c) || infer_broadcast(q, dims, &rank, a) ||
        infer_broadcast(q, dims, &rank, b))
        return -1;
    return infer_set(q, 0, a->type, rank, dims);
}

/* Scale (input 1) and zero point (input 2) are scalars, or have one element per index of `axis`. */
static int check_scale(struct infer *q, const struct ig_shape *x)
{
    const struct ig_shape *scale = infer_want(q, 1, T_F32, 0, 1), *zero = infer_in(q, 2);
    int32_t axis = q->n->attrs.axis.axis;
    if (!scale) return -1;
    if (zero && ig_count(zero) != ig_count(scale))
        return infer_fail(q, "scale and zero point differ in shape");
    if (ig_count(scale) == 1) return 0;
    if (infer_axis(q, axis, x->rank)) return -1;
    if (scale->dims[0] == x->dims[axis]) return 0;
    return infer_fail(q, "%d scales do not fit axis %d of %d", scale->dims[0], axis, x->dims[axis]);
}

int infer_quantize(struct infer *q)
{
    const struct ig_shape *x = infer_want(q, 0, T_F32, 0, IG_MAX_RANK), *zero = infer_in(q, 2);
    if (!x || check_scale(q, x)) return -1;
    if (zero && !infer_want(q, 2, T_BYTE, 0, 1)) return -1;
    if (q->n->n_out < 1 || q->n->out[0] < 0) return infer_fail(q, "output 0 is missing");
    int32_t type = zero ? zero->type : q->g->values[q->n->out[0]].shape.type;
    if (type != IG_U8 && type != IG_I8) return infer_fail(q, "only u8 and i8 can be quantised to");
    return infer_like(q, 0, x, type);
}

int infer_dequantize(struct infer *q)
{
    const struct ig_shape *x = infer_want(q, 0, T_BYTE | T_I32, 0, IG_MAX_RANK), *zero = infer_in(q, 2);
    if (!x || check_scale(q, x)) return -1;
    if (zero && zero->type != x->type) return infer_fail(q, "data and zero point differ in type");
    return infer_like(q, 0, x, IG_F32);
}

int infer_dynamic_quantize(struct infer *q)
{
    const struct ig_shape *x = infer_want(q, 0, T_F32, 0, IG_MAX_RANK);
    if (!x || infer_like(q, 0, x, IG_U8)) return -1;
    return infer_set(q, 1, IG_F32, 0, NULL) || infer_set(q, 2, IG_U8, 0, NULL) ? -1 : 0;
}

/* How many parts there are is the output's. */
int infer_extremes(struct infer *q)
{
    const struct ig_shape *y = infer_want(q, 0, T_F32, 0, IG_MAX_RANK) ? infer_given(q, 0, T_F32) : NULL;
    if (!y) return -1;
    return y->rank == 2 && y->dims[1] == 2 ? 0 : infer_fail(q, "the output is not of pairs");
}

static int same_dims(const struct ig_shape *a, const struct ig_shape *b)
{
    for (int i = 0; i < a->rank && i < b->rank; i++)
        if (a->dims[i] != b->dims[i]) return 0;
    return a->rank == b->rank;
}

int infer_qlinear_binary(struct infer *q)
{
    static const int types[8] = {T_BYTE, T_F32, T_BYTE, T_BYTE, T_F32, T_BYTE, T_F32, T_BYTE};
    int32_t kind = q->n->attrs.binary.kind;
    if (kind != IG_ADD && kind != IG_MUL) return infer_fail(q, "of quantised tensors there are sums and products only");
    for (int i = 0; i < 8; i++) {
        if (!infer_want(q, i, types[i], 0, IG_MAX_RANK)) return -1;
        if (i != 0 && i != 3 && infer_parameter(q, i, types[i], 1)) return -1;
    }
    const struct ig_shape *a = infer_in(q, 0), *b = infer_in(q, 3);
    if (a->type != infer_in(q, 2)->type || b->type != infer_in(q, 5)->type)
        return infer_fail(q, "data and zero point differ in type");
    if (!same_dims(a, b) && !ig_is_pixel(q->g, b, a)) return infer_fail(q, "the two inputs differ in shape");
    return infer_like(q, 0, a, infer_in(q, 7)->type);
}

int infer_qlinear_affine(struct infer *q)
{
    const struct ig_shape *x = infer_want(q, 0, T_BYTE, 1, IG_MAX_RANK), *zero = infer_want(q, 3, T_BYTE, 0, IG_MAX_RANK);
    if (!x || !zero || infer_parameter(q, 3, T_BYTE, 1)) return -1;
    for (int i = 1; i < 3; i++) {
        const struct ig_shape *s = infer_want(q, i, T_F32, 1, 1);
        if (!s) return -1;
        if (s->dims[0] != x->dims[ig_channel_dim(q->g, x)]) return infer_fail(q, "input %d has not one number per channel", i);
    }
    return infer_like(q, 0, x, zero->type);
}

int infer_lookup(struct infer *q)
{
    const struct ig_shape *x = infer_want(q, 0, T_BYTE, 0, IG_MAX_RANK), *table = infer_want(q, 1, T_BYTE, 1, 1);
    if (!x || !table) return -1;
    return table->dims[0] == 256 ? infer_like(q, 0, x, table->type) : infer_fail(q, "a table that does not have 256 entries");
}

int infer_reduce(struct infer *q)
{
    const struct ig_reduce *a = &q->n->attrs.reduce;
    int types = a->kind == IG_REDUCE_MAX || a->kind == IG_REDUCE_MIN ? T_ANY : T_F32 | T_INDEX;
    const struct ig_shape *x = infer_want(q, 0, types, 0, IG_MAX_RANK);
    if (!x) return -1;
    if (a->mask < 0 || a->mask >> x->rank)
        return infer_fail(q, "an axis is outside a tensor of rank %d", x->rank);
    struct ig_shape y = *x;
    for (int i = 0; i < x->rank; i++)
        if (a->mask >> i & 1) y.dims[i] = 1;
    return infer_like(q, 0, &y, y.type);
}

int infer_arg(struct infer *q)
{
    const struct ig_shape *x = infer_want(q, 0, T_NUMBER, 1, IG_MAX_RANK);
    if (!x || infer_axis(q, q->n->attrs.arg.axis, x->rank)) return -1;
    struct ig_shape y = *x;
    y.dims[q->n->attrs.arg.axis] = 1;
    return infer_like(q, 0, &y, IG_I64);
}

/* Scale and bias of a norm have `count` elements, or are absent. */
static int check_affine(struct infer *q, int64_t count)
{
    for (int i = 1; i < 3; i++) {
        const struct ig_shape *s = infer_in(q, i);
        if (s && (s->type != IG_F32 || ig_count(s) != count))
            return infer_fail(q, "scale or bias does not have the %lld elements that are normalised",
                              (long long)count);
    }
    return 0;
}

int infer_norm(struct infer *q)
{
    const struct ig_norm *a = &q->n->attrs.norm;
    const struct ig_shape *x = infer_want(q, 0, T_F32, 1, IG_MAX_RANK);
    int64_t count = 1;
    if (!x) return -1;
    if (a->kind == IG_NORM_INSTANCE || a->kind == IG_NORM_GROUP) {
        if (x->rank < 3) return infer_fail(q, "data of rank %d has no space to normalise over", x->rank);
        count = x->dims[q->g->channels_last ? x->rank - 1 : 1];
        if (a->kind == IG_NORM_GROUP && (a->groups < 1 || count % a->groups))
            return infer_fail(q, "%lld channels do not fall into %d groups", (long long)count, a->groups);
    } else if (a->kind == IG_NORM_MVN) {
        if (a->mask < 0 || a->mask >> x->rank)
            return infer_fail(q, "an axis is outside a tensor of rank %d", x->rank);
    } else {
        if (infer_axis(q, a->axis, x->rank)) return -1;
        for (int i = a->axis; i < x->rank; i++)
            count *= x->dims[i];
    }
    if (a->kind < 0 || a->kind > IG_NORM_MVN) return infer_fail(q, "norm kind %d is not known", a->kind);
    if (check_affine(q, count)) return -1;
    return infer_like(q, 0, x, IG_F32);
}

/* Optional input i is absent, or has these dims. */
static int check_dims_of(struct infer *q, int i, int32_t rank, const int32_t *dims)
{
    const struct ig_shape *s = infer_in(q, i) ? infer_want(q, i, T_F32, rank, rank) : NULL;
    if (!s) return infer_in(q, i) ? -1 : 0;
    for (int k = 0; k < rank; k++)
        if (s->dims[k] != dims[k]) return infer_fail(q, "input %d has %d where %d is needed", i, s->dims[k], dims[k]);
    return 0;
}

int infer_recurrent(struct infer *q)
{
    const struct ig_recurrent *a = &q->n->attrs.recurrent;
    const struct ig_shape *x = infer_want(q, 0, T_F32, 3, 3), *r = x ? infer_want(q, 1, T_F32, 3, 3) : NULL;
    if (!r) return -1;
    const int32_t d = r->dims[0], hidden = r->dims[2], state[] = {d, x->dims[1], hidden}, own[] = {d, hidden}, peepholes[] = {d, 3 * hidden};
    if (r->dims[1] != ig_gates_of(a) * (int64_t)hidden || x->dims[2] != (int64_t)d * r->dims[1])
        return infer_fail(q, "gates of %d elements and recurrent weights of %d by %d by %d", x->dims[2], d, r->dims[1], hidden);
    if (check_dims_of(q, 2, 2, own) || check_dims_of(q, 3, 3, state) || check_dims_of(q, 4, 3, state) || check_dims_of(q, 5, 2, peepholes))
        return -1;
    const int64_t dims[] = {x->dims[0], d, state[1], hidden};
    return infer_set(q, 0, IG_F32, 4, dims) || infer_set(q, 1, IG_F32, 3, dims + 1) || infer_set(q, 2, IG_F32, 3, dims + 1) ? -1 : 0;
}
