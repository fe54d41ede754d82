/* Shape inference: the table of ops, and what all of them need. */
#include "graph/shape_internal.h"

#include <stdarg.h>
#include <string.h>

int infer_fail(struct infer *q, const char *format, ...)
{
    va_list list;
    va_start(list, format);
    vsnprintf(q->err, q->err_bytes, format, list);
    va_end(list);
    return -1;
}

const struct ig_shape *infer_in(const struct infer *q, int i)
{
    if (i >= q->n->n_in || q->n->in[i] < 0) return NULL;
    return &q->g->values[q->n->in[i]].shape;
}

const struct ig_shape *infer_want(struct infer *q, int i, int types, int min_rank, int max_rank)
{
    const struct ig_shape *s = infer_in(q, i);
    if (!s) {
        infer_fail(q, "input %d is missing", i);
        return NULL;
    }
    q->unsupported = 1;
    if (s->type < 0 || s->type >= IG_TYPES || !(types >> s->type & 1)) {
        infer_fail(q, "input %d of type %s is not supported", i, ig_type_name(s->type));
    } else if (s->rank < min_rank || s->rank > max_rank) {
        infer_fail(q, "input %d of rank %d is not supported (it must be in %d..%d)", i, s->rank, min_rank,
                   max_rank);
    } else {
        q->unsupported = 0;
        return s;
    }
    return NULL;
}

static int check_dims(struct infer *q, int i, int32_t type, int32_t rank, const int64_t *dims)
{
    int64_t n = 1;
    if (!ig_type_bytes(type)) return infer_fail(q, "output %d has no known type", i);
    if (rank < 0 || rank > IG_MAX_RANK)
        return infer_fail(q, "output %d has rank %d, above %d", i, rank, IG_MAX_RANK);
    for (int k = 0; k < rank; k++) {
        if (dims[k] < 1)
            return infer_fail(q, "output %d would be empty (dimension %d is %lld)", i, k, (long long)dims[k]);
        if (dims[k] > INT32_MAX / n)
            return infer_fail(q, "output %d is too large (dimension %d is %lld)", i, k, (long long)dims[k]);
        n *= dims[k];
    }
    return 0;
}

int infer_set(struct infer *q, int i, int32_t type, int32_t rank, const int64_t *dims)
{
    if (check_dims(q, i, type, rank, dims)) return -1;
    if (i >= q->n->n_out || q->n->out[i] < 0) return 0;
    struct ig_shape *s = &q->g->values[q->n->out[i]].shape;
    s->type = type;
    s->rank = rank;
    for (int k = 0; k < IG_MAX_RANK; k++)
        s->dims[k] = k < rank ? (int32_t)dims[k] : 1;
    return 0;
}

int infer_like(struct infer *q, int i, const struct ig_shape *s, int32_t type)
{
    int64_t dims[IG_MAX_RANK];
    for (int k = 0; k < s->rank; k++)
        dims[k] = s->dims[k];
    return infer_set(q, i, type, s->rank, dims);
}

const struct ig_shape *infer_given(struct infer *q, int i, int types)
{
    if (i >= q->n->n_out || q->n->out[i] < 0) {
        infer_fail(q, "output %d is missing", i);
        return NULL;
    }
    const struct ig_shape *s = &q->g->values[q->n->out[i]].shape;
    int64_t dims[IG_MAX_RANK];
    for (int k = 0; k < IG_MAX_RANK; k++)
        dims[k] = s->dims[k];
    if (check_dims(q, i, s->type, s->rank, dims)) return NULL;
    if (types >> s->type & 1) return s;
    infer_fail(q, "output of type %s is not supported", ig_type_name(s->type));
    return NULL;
}

int infer_broadcast(struct infer *q, int64_t *dims, int32_t *rank, const struct ig_shape *b)
{
    int32_t grow = b->rank - *rank;
    if (grow > 0) {
        memmove(dims + grow, dims, (size_t)*rank * sizeof *dims);
        for (int i = 0; i < grow; i++)
            dims[i] = 1;
        *rank = b->rank;
    }
    for (int i = 0; i < b->rank; i++) {
        int64_t *a = &dims[*rank - b->rank + i];
        char text[128];
        if (*a == 1) *a = b->dims[i];
        if (b->dims[i] != 1 && b->dims[i] != *a)
            return infer_fail(q, "shape %s does not broadcast: %lld against %d", infer_text(b, text),
                              (long long)*a, b->dims[i]);
    }
    return 0;
}

int infer_parameter(struct infer *q, int i, int types, int64_t n)
{
    if (!infer_in(q, i)) return 0;
    const struct ig_shape *s = infer_want(q, i, types, 0, IG_MAX_RANK);
    if (!s) return -1;
    if (ig_count(s) == 1 || ig_count(s) == n) return 0;
    if (n == 1) return infer_fail(q, "input %d has %lld elements, not one", i, (long long)ig_count(s));
    return infer_fail(q, "input %d has %lld elements, neither one nor %lld", i, (long long)ig_count(s),
                      (long long)n);
}

int infer_scales(struct infer *q, int64_t n)
{
    if (!infer_in(q, 4)) return infer_in(q, 5) || infer_in(q, 6) ? infer_fail(q, "a scale of weights or a bias, but no scale of the data") : 0;
    if (infer_parameter(q, 4, T_F32, 1) || infer_parameter(q, 5, T_F32, n)) return -1;
    if (!infer_in(q, 6) || ig_count(infer_in(q, 6)) == n) return infer_parameter(q, 6, T_F32, n);
    return infer_fail(q, "the bias does not have %lld elements", (long long)n);
}

int infer_axis(struct infer *q, int32_t axis, int32_t rank)
{
    if (axis >= 0 && axis < rank) return 0;
    return infer_fail(q, "axis %d is outside a tensor of rank %d", axis, rank);
}

char *infer_text(const struct ig_shape *s, char *text)
{
    char *p = text;
    *p++ = '[';
    for (int i = 0; i < s->rank; i++)
        p += sprintf(p, i ? ",%d" : "%d", s->dims[i]);
    strcpy(p, "]");
    return text;
}

static int like_any(struct infer *q)
{
    const struct ig_shape *x = infer_want(q, 0, T_EDGE, 0, IG_MAX_RANK);
    return x ? infer_like(q, 0, x, x->type) : -1;
}

static int lrn(struct infer *q)
{
    const struct ig_shape *x = infer_want(q, 0, T_F32, 2, IG_MAX_RANK);
    if (!x) return -1;
    if (q->n->attrs.lrn.size < 1) return infer_fail(q, "size %d is below 1", q->n->attrs.lrn.size);
    return infer_like(q, 0, x, x->type);
}

static int cast(struct infer *q)
{
    const struct ig_shape *x = infer_want(q, 0, T_EDGE, 0, IG_MAX_RANK);
    if (!x) return -1;
    if (q->n->n_out < 1 || q->n->out[0] < 0) return infer_fail(q, "output 0 is missing");
    return infer_like(q, 0, x, q->g->values[q->n->out[0]].shape.type);
}

static int softmax(struct infer *q)
{
    const struct ig_shape *x = infer_want(q, 0, T_F32, 1, IG_MAX_RANK);
    if (!x || infer_axis(q, q->n->attrs.axis.axis, x->rank)) return -1;
    return infer_like(q, 0, x, x->type);
}

static int cumsum(struct infer *q)
{
    const struct ig_shape *x = infer_want(q, 0, T_F32 | T_INDEX, 1, IG_MAX_RANK);
    if (!x || infer_axis(q, q->n->attrs.cumsum.axis, x->rank)) return -1;
    return infer_like(q, 0, x, x->type);
}

static int triu(struct infer *q)
{
    const struct ig_shape *x = infer_want(q, 0, T_ANY, 2, IG_MAX_RANK);
    return x ? infer_like(q, 0, x, x->type) : -1;
}

static infer_fn *const table[IG_OPS] = {
    [IG_CONV] = infer_conv,
    [IG_DECONV] = infer_deconv,
    [IG_POOL] = infer_pool,
    [IG_GLOBAL_POOL] = infer_global_pool,
    [IG_LRN] = lrn,
    [IG_RESIZE] = infer_resize,
    [IG_CONV_INTEGER] = infer_conv_integer,
    [IG_QLINEAR_CONV] = infer_qlinear_conv,
    [IG_DEFORM_CONV] = infer_deform_conv,
    [IG_MAX_UNPOOL] = infer_max_unpool,
    [IG_ROI_ALIGN] = infer_roi_align,
    [IG_GRID_SAMPLE] = infer_grid_sample,
    [IG_COL2IM] = infer_col2im,
    [IG_FC] = infer_fc,
    [IG_MATMUL] = infer_matmul,
    [IG_MATMUL_INTEGER] = infer_matmul_integer,
    [IG_QLINEAR_MATMUL] = infer_qlinear_matmul,
    [IG_UNARY] = infer_unary,
    [IG_BINARY] = infer_binary,
    [IG_WHERE] = infer_where,
    [IG_CAST] = cast,
    [IG_QUANTIZE] = infer_quantize,
    [IG_DEQUANTIZE] = infer_dequantize,
    [IG_DYNAMIC_QUANTIZE] = infer_dynamic_quantize,
    [IG_EXTREMES] = infer_extremes,
    [IG_QLINEAR_BINARY] = infer_qlinear_binary,
    [IG_QLINEAR_AFFINE] = infer_qlinear_affine,
    [IG_LOOKUP] = infer_lookup,
    [IG_SOFTMAX] = softmax,
    [IG_REDUCE] = infer_reduce,
    [IG_ARG] = infer_arg,
    [IG_NORM] = infer_norm,
    [IG_CUMSUM] = cumsum,
    [IG_TOPK] = infer_topk,
    [IG_RECURRENT] = infer_recurrent,
    [IG_RESHAPE] = infer_reshape,
    [IG_TRANSPOSE] = infer_transpose,
    [IG_CONCAT] = infer_concat,
    [IG_SLICE] = infer_slice,
    [IG_PAD] = infer_pad,
    [IG_EXPAND] = infer_expand,
    [IG_TILE] = infer_tile,
    [IG_GATHER] = infer_gather,
    [IG_GATHER_ELEMENTS] = infer_gather_elements,
    [IG_GATHER_ND] = infer_gather_nd,
    [IG_SCATTER_ELEMENTS] = infer_scatter_elements,
    [IG_SCATTER_ND] = infer_scatter_nd,
    [IG_ONE_HOT] = infer_one_hot,
    [IG_TRIU] = triu,
    [IG_COPY] = like_any,
};

int ig_infer(struct ig_graph *g, struct ig_node *n, char *err, size_t err_bytes)
{
    struct infer q = {g, n, err, err_bytes, 0};
    if (n->op < 0 || n->op >= IG_OPS) return infer_fail(&q, "op %d is not known", n->op);
    if (!table[n->op](&q)) return 0;
    return q.unsupported ? -2 : -1;
}
