/*
 * conv + x, and fc + x, add x in their epilogue: y = act(conv + bias + x). Where both operands are
 * convolutions, the one that runs later takes the sum, as its partner is there by then.
 */
#include "graph/passes/edit.h"

static int is_sum(const struct ig_graph *g, const struct ig_node *n) {
    if (!n->n_out || n->op != IG_BINARY || n->attrs.binary.kind != IG_ADD) return 0;
    const struct ig_shape *y = &g->values[n->out[0]].shape;
    return y->type == IG_F32 && edit_same_shape(y, &g->values[n->in[0]].shape) &&
           edit_same_shape(y, &g->values[n->in[1]].shape);
}

/* The conv or fc that makes v for this sum alone and has no residual and no activation yet; -1 if there is
 * none. */
static int32_t taker(const struct ig_graph *g, int32_t v) {
    int32_t node = g->values[v].producer;
    if (node < 0 || edit_sole_reader(g, v) < 0) return -1;
    struct ig_node *n = &g->nodes[node];
    if (n->op != IG_CONV && n->op != IG_FC) return -1;
    if (edit_act(n)->kind != IG_NONE || (n->n_in > 3 && n->in[3] >= 0)) return -1;
    return node;
}

static void set_residual(struct ig_graph *g, int32_t node, int32_t v) {
    struct ig_node *n = &g->nodes[node];
    const union ig_attrs attrs = n->attrs;
    int32_t in[4] = {n->in[0], n->in[1], n->n_in > 2 ? n->in[2] : -1, v};
    edit_become(g, node, (enum ig_op)n->op, 4, in);
    n->attrs = attrs;
}

static int fuse(struct ig_graph *g, int32_t sum) {
    const struct ig_node *n = &g->nodes[sum];
    int32_t a = taker(g, n->in[0]), b = taker(g, n->in[1]), node = a > b ? a : b;
    if (node < 0) return 0;
    set_residual(g, node, n->in[node == a]);
    *edit_act(&g->nodes[node]) = n->attrs.binary.act;
    edit_take_output(g, node, sum);
    return 1;
}

int ig_pass_fuse_residual(struct ig_graph *g) {
    int rewrites = 0;
    for (int i = 0; i < g->n_nodes; i++)
        if (is_sum(g, &g->nodes[i])) rewrites += fuse(g, i);
    return edit_finish(g, rewrites);
}
