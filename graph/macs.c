/* Multiply-accumulates of a node, counted as the literature does: convolutions and matrix products only. */
#include "graph/graph.h"

static double count(const struct ig_graph *g, int32_t v) {
    return (double)ig_count(&g->values[v].shape);
}

static double last_dim(const struct ig_graph *g, int32_t v) {
    const struct ig_shape *s = &g->values[v].shape;
    return s->rank ? s->dims[s->rank - 1] : 1;
}

/* Each element of the image `v` meets every weight of one slice of w along w's first dimension. */
static double windowed(const struct ig_graph *g, int32_t v, int32_t w) {
    return count(g, v) * count(g, w) / g->values[w].shape.dims[0];
}

static double inner_dim(const struct ig_graph *g, const struct ig_node *n) {
    const struct ig_shape *s = &g->values[n->in[0]].shape;
    if (n->op == IG_MATMUL && n->attrs.matmul.trans_a && s->rank > 1) return s->dims[s->rank - 2];
    return last_dim(g, n->in[0]);
}

static double node_macs(const struct ig_graph *g, const struct ig_node *n) {
    switch (n->op) {
    case IG_CONV:
    case IG_CONV_INTEGER:
    case IG_DEFORM_CONV:
        return windowed(g, n->out[0], n->in[1]);
    case IG_QLINEAR_CONV:
        return windowed(g, n->out[0], n->in[3]);
    case IG_DECONV:
        return windowed(g, n->in[0], n->in[1]);
    case IG_FC:
    case IG_MATMUL:
    case IG_MATMUL_INTEGER:
    case IG_QLINEAR_MATMUL:
        return count(g, n->out[0]) * inner_dim(g, n);
    case IG_RECURRENT:
        return count(g, n->in[0]) * last_dim(g, n->in[1]);
    default:
        return 0;
    }
}

void ig_count_macs(struct ig_graph *g) {
    for (int i = 0; i < g->n_nodes; i++)
        g->nodes[i].macs = node_macs(g, &g->nodes[i]);
}
