/*
 * What handlers make: graph nodes with inferred shapes. A node all of whose inputs are constant is evaluated
 * at once and leaves constants instead, within budgets that keep a hostile file from taking all memory or
 * time.
 */
#include "graph/onnx/import.h"

#include "graph/late.h"

#include <string.h>

static const int64_t max_folded_bytes = (int64_t)1 << 30;

struct ig_shape im_make_shape(struct im *m, int32_t type, int32_t rank, const int64_t *dims)
{
    struct ig_shape s = {.type = type, .rank = rank};
    int64_t count = 1;
    if (rank > IG_MAX_RANK) im_refuse(m, "a tensor of rank %d; at most %d is supported", rank, IG_MAX_RANK);
    for (int i = 0; i < IG_MAX_RANK; i++)
        s.dims[i] = 1;
    for (int i = 0; i < rank; i++) {
        if (dims[i] < 0) im_fail(m, "a dimension is negative (%lld)", (long long)dims[i]);
        if (!dims[i]) im_refuse(m, "a dimension is 0; tensors of size zero are not supported%s", im_doubt(m));
        if (dims[i] > INT32_MAX / count)
            im_fail(m, "a tensor is too large (dimension %d is %lld)", i, (long long)dims[i]);
        s.dims[i] = (int32_t)dims[i];
        count *= dims[i];
    }
    return s;
}

/* A name for a tensor that the model does not name: no tensor of the model has it. */
static const char *fresh(struct im *m, const char *what)
{
    const char *base = m->node && m->node->n_out ? m->node->out[0] : "edge";
    const char *name = im_format(m, "%s_%s", base, what);
    for (int i = m->emitted; im_find(m, &m->names, name, 0); i++)
        name = im_format(m, "%s_%s%d", base, what, i);
    return name;
}

int32_t im_empty(struct im *m, const struct ig_shape *shape)
{
    struct ig_shape *bigger = im_array(m, (size_t)m->n_empties + 1, sizeof *bigger);
    if (m->n_empties >= 4096) im_fail(m, "it has too many tensors of size zero");
    if (m->n_empties) memcpy(bigger, m->empties, (size_t)m->n_empties * sizeof *bigger);
    bigger[m->n_empties] = *shape;
    m->empties = bigger;
    return IM_EMPTY - m->n_empties++;
}

void im_charge(struct im *m, int64_t bytes)
{
    if (bytes > m->bytes_left) im_fail(m, "its constants are too large (%lld bytes more)", (long long)bytes);
    m->bytes_left -= bytes;
}

int32_t im_const(struct im *m, const struct ig_shape *shape, void **data)
{
    im_charge(m, ig_bytes(shape));
    int32_t v = ig_add_const(m->g, fresh(m, "const"), shape, NULL);
    *data = (void *)m->g->values[v].data;
    return v;
}

int32_t im_scalar(struct im *m, int32_t type, double value)
{
    struct ig_shape s = im_make_shape(m, type, 0, NULL);
    void *data;
    int32_t v = im_const(m, &s, &data);
    switch (type) {
    case IG_F32:
        *(float *)data = (float)value;
        break;
    case IG_I64:
        *(int64_t *)data = (int64_t)value;
        break;
    case IG_I32:
        *(int32_t *)data = (int32_t)value;
        break;
    case IG_I8:
        *(int8_t *)data = (int8_t)value;
        break;
    default:
        *(uint8_t *)data = (uint8_t)value;
    }
    return v;
}

/* Elements that evaluating the node touches, roughly. */
static double work(const struct im *m, const struct ig_node *n)
{
    double sum = 0, out = (double)ig_count(&m->g->values[n->out[0]].shape);
    for (int i = 0; i < n->n_in; i++)
        if (n->in[i] >= 0) sum += (double)ig_count(&m->g->values[n->in[i]].shape);
    const struct ig_shape *a = &m->g->values[n->in[0]].shape;
    int product = n->op == IG_MATMUL || n->op == IG_MATMUL_INTEGER || n->op == IG_QLINEAR_MATMUL;
    if (n->op == IG_RECURRENT) return (double)ig_count(a) * m->g->values[n->in[1]].shape.dims[2] + sum;
    return product ? out * a->dims[a->rank - (n->attrs.matmul.trans_a ? 2 : 1)] + sum : out + sum;
}

/* Quantised weights stay: the quantised pass wants them as they are, and folds what it leaves. */
static int may_fold(struct im *m, const struct ig_node *n)
{
    int64_t bytes = 0;
    for (int i = 0; i < n->n_in; i++)
        if (n->in[i] >= 0 && !ig_is_const(m->g, n->in[i])) return 0;
    if (n->op == IG_DEQUANTIZE && m->g->values[n->in[0]].shape.rank > 0) return 0;
    if (n->op <= IG_COL2IM || n->op == IG_COPY || !n->n_in || n->in[0] < 0 || n->out[0] < 0) return 0;
    for (int i = 0; i < n->n_out; i++)
        if (n->out[i] >= 0) bytes += ig_bytes(&m->g->values[n->out[i]].shape);
    if (bytes > max_folded_bytes || bytes > m->bytes_left || work(m, n) > (double)m->work_left) return 0;
    return n->op == IG_RESHAPE || m->options->eval != NULL;
}

static int fold(struct im *m, const struct ig_node *n)
{
    const void **in = im_array(m, (size_t)n->n_in, sizeof *in);
    void *out[3] = {NULL, NULL, NULL};
    if (!may_fold(m, n)) return 0;
    if (n->op == IG_RESHAPE) {
        m->g->values[n->out[0]].data = m->g->values[n->in[0]].data;
        return 1;
    }
    for (int i = 0; i < n->n_in; i++)
        if (n->in[i] >= 0) ig_late_fetch(m->g, m->g->values[n->in[i]].data);
    m->work_left -= (int64_t)work(m, n);
    for (int i = 0; i < n->n_in; i++)
        in[i] = n->in[i] < 0 ? NULL : m->g->values[n->in[i]].data;
    for (int i = 0; i < n->n_out; i++) {
        if (n->out[i] < 0) continue;
        im_charge(m, ig_bytes(&m->g->values[n->out[i]].shape));
        out[i] = ig_graph_alloc(m->g, (size_t)ig_bytes(&m->g->values[n->out[i]].shape));
    }
    if (m->options->eval(m->g, n, in, out)) return 0;
    for (int i = 0; i < n->n_out; i++)
        if (n->out[i] >= 0) m->g->values[n->out[i]].data = out[i];
    return 1;
}

/* Its own; of one without that of its first output, as mappings have it (graph/layers.h). */
static const char *name_of(const struct im_node *n)
{
    for (int i = 0; !*n->name && i < n->n_out; i++)
        if (*n->out[i]) return n->out[i];
    return n->name;
}

static void add_node(struct im *m, const struct ig_node *n)
{
    const char *name = m->node ? name_of(m->node) : "";
    if (*name && m->emitted) name = im_format(m, "%s_%s", name, ig_op_info((enum ig_op)n->op)->name);
    struct ig_node *made = ig_add_node(m->g, *name ? name : NULL, (enum ig_op)n->op, n->n_in, n->n_out);
    memcpy(made->in, n->in, (size_t)n->n_in * sizeof *n->in);
    memcpy(made->out, n->out, (size_t)n->n_out * sizeof *n->out);
    made->attrs = n->attrs;
    made->onnx = ig_graph_strdup(m->g, m->node ? im_op_text(m, m->node) : "edge");
    m->emitted++;
}

void im_emit(struct im *m, const struct im_emit *e, int32_t *out)
{
    struct ig_node n = {.op = e->op, .n_in = e->n_in, .n_out = e->n_out ? e->n_out : 1, .attrs = e->attrs};
    char why[256];
    n.in = im_array(m, (size_t)n.n_in, sizeof *n.in);
    n.out = out;
    if (n.n_in) memcpy(n.in, e->in, (size_t)n.n_in * sizeof *n.in);
    for (int i = 0; i < n.n_out; i++) {
        int unwanted = e->unwanted >> i & 1;
        out[i] = unwanted ? IM_ABSENT
                          : ig_add_value(m->g, fresh(m, ig_op_info((enum ig_op)e->op)->name), &e->given[i]);
    }
    int wrong = ig_infer(m->g, &n, why, sizeof why);
    if (wrong == -2) im_refuse(m, "%s", why);
    if (wrong) im_misfit(m, "%s", why);
    if (!fold(m, &n)) add_node(m, &n);
}

int32_t im_emit1(struct im *m, enum ig_op op, int32_t n_in, const int32_t *in, const union ig_attrs *attrs)
{
    struct im_emit e = {.op = op, .n_in = n_in, .in = in};
    int32_t out;
    if (attrs) e.attrs = *attrs;
    im_emit(m, &e, &out);
    return out;
}

/* One output whose shape (or type) the caller knows. */
static int32_t emit_given(struct im *m, enum ig_op op, int32_t x, const struct ig_shape *given,
                          const union ig_attrs *attrs)
{
    struct im_emit e = {.op = op, .n_in = 1, .in = &x, .given = {*given}};
    int32_t out;
    if (attrs) e.attrs = *attrs;
    im_emit(m, &e, &out);
    return out;
}

int32_t im_unary(struct im *m, int32_t kind, int32_t x, float alpha, float beta)
{
    union ig_attrs a = {.unary = {.act = {kind, alpha, beta}}};
    return im_emit1(m, IG_UNARY, 1, &x, &a);
}

/* Folding an integer division by a constant zero would trap. */
static void check_divisor(struct im *m, int32_t v)
{
    struct ig_shape s = im_shape(m, v);
    const unsigned char *data = m->g->values[v].data;
    int bytes = ig_type_bytes(s.type);
    if (!data || s.type == IG_F32) return;
    for (int64_t i = 0; i < ig_count(&s); i++) {
        int any = 0;
        for (int k = 0; k < bytes; k++)
            any |= data[i * bytes + k];
        if (!any) im_fail(m, "an integer is divided by a constant zero");
    }
}

int32_t im_binary(struct im *m, int32_t kind, int32_t a, int32_t b)
{
    union ig_attrs attrs = {.binary = {.kind = kind}};
    if (kind == IG_DIV || kind == IG_MOD || kind == IG_FMOD) check_divisor(m, b);
    return im_emit1(m, IG_BINARY, 2, (int32_t[]){a, b}, &attrs);
}

int32_t im_reshape(struct im *m, int32_t x, int32_t rank, const int64_t *dims)
{
    struct ig_shape from = im_shape(m, x), to = im_make_shape(m, from.type, rank, dims);
    if (from.rank == rank && !memcmp(from.dims, to.dims, (size_t)rank * sizeof *to.dims)) return x;
    return emit_given(m, IG_RESHAPE, x, &to, NULL);
}

int32_t im_transpose(struct im *m, int32_t x, const int32_t *perm)
{
    union ig_attrs a = {.transpose = {{0}}};
    int32_t rank = im_shape(m, x).rank, moved = 0;
    memcpy(a.transpose.perm, perm, (size_t)rank * sizeof *perm);
    for (int i = 0; i < rank; i++)
        moved |= perm[i] != i;
    return moved ? im_emit1(m, IG_TRANSPOSE, 1, &x, &a) : x;
}

int32_t im_cast(struct im *m, int32_t x, int32_t type)
{
    struct ig_shape s = {.type = type};
    return im_shape(m, x).type == type ? x : emit_given(m, IG_CAST, x, &s, NULL);
}

int32_t im_reduce(struct im *m, int32_t kind, int32_t x, int32_t mask)
{
    union ig_attrs a = {.reduce = {kind, mask}};
    return im_emit1(m, IG_REDUCE, 1, &x, &a);
}

int32_t im_drop_dims(struct im *m, int32_t x, int32_t mask)
{
    struct ig_shape s = im_shape(m, x);
    int64_t dims[IG_MAX_RANK];
    int32_t rank = 0;
    for (int i = 0; i < s.rank; i++)
        if (!(mask >> i & 1)) dims[rank++] = s.dims[i];
    return im_reshape(m, x, rank, dims);
}

int32_t im_slice(struct im *m, int32_t x, const int32_t *start, const int32_t *step, const int64_t *extent)
{
    union ig_attrs a = {.slice = {{0}, {1, 1, 1, 1, 1, 1, 1, 1}}};
    struct ig_shape from = im_shape(m, x), to = im_make_shape(m, from.type, from.rank, extent);
    int whole = 1;
    for (int i = 0; i < from.rank; i++) {
        a.slice.start[i] = start[i];
        a.slice.step[i] = step[i];
        whole &= step[i] == 1 && to.dims[i] == from.dims[i];
    }
    return whole ? x : emit_given(m, IG_SLICE, x, &to, &a);
}

int32_t im_expand(struct im *m, int32_t x, const struct ig_shape *to)
{
    struct ig_shape from = im_shape(m, x), given = *to;
    given.type = from.type;
    if (from.rank == to->rank && ig_count(&from) == ig_count(to)) return x;
    return emit_given(m, IG_EXPAND, x, &given, NULL);
}
