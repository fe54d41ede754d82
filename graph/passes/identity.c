/* Removes nodes that do nothing, and merges pairs of reshapes and of transposes, and repetitions with what repeats by itself. */
#include <string.h>

#include "graph/passes/edit.h"

static int slices_nothing(const struct ig_graph *g, const struct ig_node *n) {
    for (int i = 0; i < g->values[n->in[0]].shape.rank; i++)
        if (n->attrs.slice.start[i] || n->attrs.slice.step[i] != 1) return 0;
    return 1;
}

static int pads_nothing(const struct ig_graph *g, const struct ig_node *n) {
    for (int i = 0; i < g->values[n->in[0]].shape.rank; i++)
        if (n->attrs.pad.begin[i] || n->attrs.pad.end[i]) return 0;
    return 1;
}

static int scales_nothing(const struct ig_graph *g, const struct ig_node *n) {
    for (int i = 0; i < g->values[n->in[0]].shape.rank; i++)
        if (n->attrs.resize.scale[i] != 1) return 0;
    return n->attrs.resize.coord != IG_TF_CROP_AND_RESIZE;
}

/* Reducing dims of size 1 changes nothing for these kinds. */
static int reduces_nothing(const struct ig_graph *g, const struct ig_node *n) {
    const struct ig_shape *s = &g->values[n->in[0]].shape;
    for (int i = 0; i < s->rank; i++)
        if (n->attrs.reduce.mask >> i & 1 && s->dims[i] != 1) return 0;
    switch (n->attrs.reduce.kind) {
    case IG_REDUCE_SUM:
    case IG_REDUCE_MEAN:
    case IG_REDUCE_MAX:
    case IG_REDUCE_MIN:
    case IG_REDUCE_PROD:
        return 1;
    default:
        return 0;
    }
}

/* A 1x1 window with stride 1, without padding. */
static int pools_nothing(const struct ig_node *n) {
    const struct ig_pool *p = &n->attrs.pool;
    const struct ig_window one = {.kd = 1,
                                  .kh = 1,
                                  .kw = 1,
                                  .sd = 1,
                                  .sh = 1,
                                  .sw = 1,
                                  .dd = p->w.dd,
                                  .dh = p->w.dh,
                                  .dw = p->w.dw,
                                  .in_d = p->w.in_d,
                                  .out_d = p->w.out_d};
    return p->kind != IG_POOL_LP && n->n_out == 1 && !memcmp(&p->w, &one, sizeof one);
}

/* x + 0, x - 0, x * 1, x / 1, max(x, -inf): the operand that is passed on, or -1. */
static int32_t neutral_operand(const struct ig_graph *g, const struct ig_node *n) {
    float c;
    int32_t kind = n->attrs.binary.kind;
    if (n->attrs.binary.act.kind != IG_NONE) return -1;
    for (int k = 0; k < 2; k++) {
        if (!edit_uniform(g, n->in[k], &c) ||
            ((kind == IG_SUB || kind == IG_DIV || kind == IG_POW) && k == 0))
            continue;
        if ((c == 0 && (kind == IG_ADD || kind == IG_SUB)) ||
            (c == 1 && (kind == IG_MUL || kind == IG_DIV || kind == IG_POW)))
            return n->in[1 - k];
    }
    return -1;
}

static int does_nothing(const struct ig_graph *g, const struct ig_node *n) {
    switch (n->op) {
    case IG_CAST:
    case IG_RESHAPE:
    case IG_EXPAND:
    case IG_TILE:
    case IG_CONCAT:
    case IG_COPY:
        return 1;
    case IG_UNARY:
        return n->attrs.unary.act.kind == IG_NONE;
    case IG_TRANSPOSE:
        return edit_keeps_order(&g->values[n->in[0]].shape, n->attrs.transpose.perm);
    case IG_SLICE:
        return slices_nothing(g, n);
    case IG_PAD:
        return pads_nothing(g, n);
    case IG_RESIZE:
        return scales_nothing(g, n);
    case IG_REDUCE:
        return reduces_nothing(g, n);
    case IG_POOL:
        return pools_nothing(n);
    case IG_GLOBAL_POOL:
        return n->attrs.global_pool.kind != IG_POOL_LP;
    default:
        return 0;
    }
}

/* The value that node n merely repeats (same shape, same elements), or -1. */
static int32_t repeated(const struct ig_graph *g, const struct ig_node *n) {
    int32_t x = -1;
    if (n->op == IG_BINARY)
        x = neutral_operand(g, n);
    else if (n->n_in == 1 && does_nothing(g, n))
        x = n->in[0];
    if (x < 0 || !edit_same_shape(&g->values[x].shape, &g->values[n->out[0]].shape)) return -1;
    return x;
}

/*
 * y = x is bypassed. Where y is a graph output it can only be replaced by a value that a node makes for no
 * other output; else the node stays.
 */
static int bypass(struct ig_graph *g, struct ig_node *n) {
    int32_t x = repeated(g, n), y = n->out[0];
    if (x < 0) return 0;
    if (ig_is_output(g, y) && (g->values[x].producer < 0 || ig_is_output(g, x))) return 0;
    ig_replace_uses(g, y, x);
    edit_kill(n);
    return 1;
}

/* TRANSPOSE of a TRANSPOSE, RESHAPE of a RESHAPE: the second one reads the first one's input. */
static int merge(struct ig_graph *g, struct ig_node *n) {
    const struct ig_node *before = edit_producer(g, n->in[0], (enum ig_op)n->op);
    if (!before) return 0;
    if (n->op == IG_TRANSPOSE) {
        int32_t *perm = n->attrs.transpose.perm;
        for (int i = 0; i < g->values[n->out[0]].shape.rank; i++)
            perm[i] = before->attrs.transpose.perm[perm[i]];
    }
    n->in[0] = before->in[0];
    return 1;
}

static int view_transpose(struct ig_graph *g, struct ig_node *n) {
    if (!edit_keeps_order(&g->values[n->in[0]].shape, n->attrs.transpose.perm)) return 0;
    n->op = IG_RESHAPE;
    memset(&n->attrs, 0, sizeof n->attrs);
    return 1;
}

/* Dim d of `to`, of whose last dims s has the extents or ones. */
static int32_t dim_at(const struct ig_shape *s, const struct ig_shape *to, int32_t d) {
    return d < to->rank - s->rank ? 1 : s->dims[d - (to->rank - s->rank)];
}

/* n's output has its shape from its other inputs and x, which stands for input k. */
static int fills(const struct ig_graph *g, const struct ig_node *n, int k, const struct ig_shape *x) {
    const struct ig_shape *y = &g->values[n->out[0]].shape;
    for (int32_t d = 0; d < y->rank; d++) {
        int there = dim_at(x, y, d) == y->dims[d];
        for (int i = 0; i < n->n_in; i++) there |= i != k && dim_at(&g->values[n->in[i]].shape, y, d) == y->dims[d];
        if (!there) return 0;
    }
    return 1;
}

/* Operands that are repeated are read as they were where n repeats them itself. */
static int unexpand(struct ig_graph *g, struct ig_node *n) {
    int rewrites = 0;
    for (int k = 0; k < n->n_in; k++) {
        const struct ig_node *expand = edit_producer(g, n->in[k], IG_EXPAND);
        if (!expand || (k == 0 && n->op == IG_BINARY && n->attrs.binary.kind == IG_PRELU)) continue;
        if (!fills(g, n, k, &g->values[expand->in[0]].shape)) continue;
        n->in[k] = expand->in[0];
        rewrites++;
    }
    return rewrites;
}

int ig_pass_identity(struct ig_graph *g) {
    int rewrites = 0;
    for (int i = 0; i < g->n_nodes; i++) {
        struct ig_node *n = &g->nodes[i];
        if (!n->n_out) continue;
        if (n->op == IG_TRANSPOSE || n->op == IG_RESHAPE) rewrites += merge(g, n);
        if (n->op == IG_BINARY || n->op == IG_WHERE) rewrites += unexpand(g, n);
        if (bypass(g, n))
            rewrites++;
        else if (n->op == IG_TRANSPOSE)
            rewrites += view_transpose(g, n);
    }
    return edit_finish(g, rewrites);
}
