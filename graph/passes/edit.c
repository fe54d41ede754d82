/* Helpers of the passes. */
#include "graph/passes/edit.h"

#include <string.h>

struct ig_node *edit_producer(const struct ig_graph *g, int32_t v, enum ig_op op) {
    if (v < 0 || g->values[v].producer < 0) return NULL;
    struct ig_node *n = &g->nodes[g->values[v].producer];
    return n->op == (int32_t)op ? n : NULL;
}

int32_t edit_sole_reader(const struct ig_graph *g, int32_t v) {
    int32_t reader = -1;
    if (v < 0 || ig_is_output(g, v)) return -1;
    for (int i = 0; i < g->n_nodes; i++) {
        for (int k = 0; k < g->nodes[i].n_in; k++) {
            if (g->nodes[i].in[k] != v) continue;
            if (reader >= 0) return -1;
            reader = i;
        }
    }
    return reader;
}

const float *edit_f32(const struct ig_graph *g, int32_t v) {
    return ig_is_const(g, v) && g->values[v].shape.type == IG_F32 ? g->values[v].data : NULL;
}

int edit_uniform(const struct ig_graph *g, int32_t v, float *x) {
    const float *p = edit_f32(g, v);
    if (!p) return 0;
    int64_t n = ig_count(&g->values[v].shape);
    for (int64_t i = 1; i < n; i++)
        if (memcmp(p + i, p, sizeof *p)) return 0;
    *x = *p;
    return 1;
}

int edit_same_shape(const struct ig_shape *a, const struct ig_shape *b) {
    if (a->type != b->type || a->rank != b->rank) return 0;
    for (int i = 0; i < a->rank; i++)
        if (a->dims[i] != b->dims[i]) return 0;
    return 1;
}

int32_t edit_other(const struct ig_node *n, int32_t v) {
    return n->in[0] == v ? n->in[1] : n->in[0];
}

struct ig_act *edit_act(struct ig_node *n) {
    switch (n->op) {
    case IG_CONV:
    case IG_DECONV:
        return &n->attrs.conv.act;
    case IG_FC:
        return &n->attrs.fc.act;
    case IG_CONV_INTEGER: /* of sums, which are integers, nothing makes use of it */
        return &n->attrs.conv.act;
    case IG_MATMUL_INTEGER:
        return &n->attrs.fc.act;
    case IG_BINARY:
        return &n->attrs.binary.act;
    case IG_UNARY:
        return &n->attrs.unary.act;
    default:
        return NULL;
    }
}

void edit_kill(struct ig_node *n) {
    n->n_in = n->n_out = 0;
}

void edit_take_output(struct ig_graph *g, int32_t from, int32_t last) {
    g->nodes[from].out[0] = g->nodes[last].out[0];
    g->values[g->nodes[from].out[0]].producer = from;
    edit_kill(&g->nodes[last]);
}

int32_t edit_append(struct ig_graph *g, const char *name, enum ig_op op, int32_t x,
                    const struct ig_shape *shape) {
    int32_t y = ig_add_value(g, name, shape);
    struct ig_node *n = ig_add_node(g, name, op, 1, 1);
    n->in[0] = x;
    n->out[0] = y;
    g->values[y].producer = g->n_nodes - 1;
    return y;
}

struct ig_node *edit_last(struct ig_graph *g) {
    return &g->nodes[g->n_nodes - 1];
}

int32_t edit_reshaped(struct ig_graph *g, int32_t x, const struct ig_shape *shape) {
    if (edit_same_shape(&g->values[x].shape, shape)) return x;
    if (!ig_is_const(g, x)) return edit_append(g, g->values[x].name, IG_RESHAPE, x, shape);
    int32_t y = ig_add_value(g, g->values[x].name, shape);
    g->values[y].data = g->values[x].data;
    return y;
}

void edit_become(struct ig_graph *g, int32_t node, enum ig_op op, int32_t n_in, const int32_t *in) {
    struct ig_node *n = &g->nodes[node];
    n->op = op;
    n->in = memcpy(ig_graph_alloc(g, (size_t)n_in * sizeof *in), in, (size_t)n_in * sizeof *in);
    n->n_in = n_in;
    memset(&n->attrs, 0, sizeof n->attrs);
}

struct ig_shape edit_permuted_shape(const struct ig_shape *x, const int32_t *perm) {
    struct ig_shape y = *x;
    for (int i = 0; i < x->rank; i++)
        y.dims[i] = x->dims[perm[i]];
    return y;
}

int edit_keeps_order(const struct ig_shape *x, const int32_t *perm) {
    int32_t last = -1;
    for (int i = 0; i < x->rank; i++) {
        if (x->dims[perm[i]] == 1) continue;
        if (perm[i] < last) return 0;
        last = perm[i];
    }
    return 1;
}

/* Elements [0, n) of y's innermost dim, `stride` elements apart in src. */
static void gather(char *dst, const char *src, int64_t n, int64_t stride, int bytes) {
    if (stride == 1) {
        memcpy(dst, src, (size_t)(n * bytes));
        return;
    }
    if (bytes == 4) { /* weights: a size known to the compiler is many times faster */
        for (int64_t i = 0; i < n; i++)
            memcpy(dst + i * 4, src + i * stride * 4, 4);
        return;
    }
    for (int64_t i = 0; i < n; i++)
        memcpy(dst + i * bytes, src + i * stride * bytes, (size_t)bytes);
}

void edit_permute(const struct ig_shape *x, const void *src, const int32_t *perm, void *dst) {
    struct ig_shape y = edit_permuted_shape(x, perm);
    int64_t strides[IG_MAX_RANK] = {0}, step[IG_MAX_RANK] = {0}, stride = 1, from = 0;
    int32_t at[IG_MAX_RANK] = {0};
    int bytes = ig_type_bytes(x->type), last = x->rank - 1;
    for (int i = last; i >= 0; i--) {
        strides[i] = stride;
        stride *= x->dims[i];
    }
    for (int i = 0; i < x->rank; i++)
        step[i] = strides[perm[i]];
    int64_t run = last < 0 ? 1 : y.dims[last], rows = ig_count(&y) / run;
    for (int64_t row = 0; row < rows; row++) {
        gather((char *)dst + row * run * bytes, (const char *)src + from * bytes, run,
               last < 0 ? 1 : step[last], bytes);
        for (int i = last - 1; i >= 0; i--) { /* the next row, like an odometer */
            from += step[i];
            if (++at[i] < y.dims[i]) break;
            from -= step[i] * y.dims[i];
            at[i] = 0;
        }
    }
}

int edit_finish(struct ig_graph *g, int rewrites) {
    char err[256];
    if (!rewrites) return 0;
    ig_graph_sweep(g);
    ig_graph_sort(g, err,
                  sizeof err); /* a rewrite makes no cycle; ig_run_passes checks the graph in the end */
    return rewrites;
}
