/*
 * A large tensor that is quantised by its own extremes, which one thread would find: EXTREMES of its parts, which threads share, the
 * parameters by DYNAMIC_QUANTIZE of these few numbers, whose extremes are the tensor's, and QUANTIZE, which threads share again.
 */
#include "graph/passes/edit.h"

enum { PARTS = 64, LARGE = 16384 /* elements, of which sharing gains more than it takes */ };

static int is_large(const struct ig_graph *g, const struct ig_node *n)
{
    if (n->op != IG_DYNAMIC_QUANTIZE || n->n_out < 3) return 0;
    for (int k = 0; k < 3; k++)
        if (n->out[k] < 0) return 0;
    return ig_count(&g->values[n->in[0]].shape) >= LARGE;
}

/* The node's second and third output are made of `extremes` by another one. */
static void parameters_of(struct ig_graph *g, int32_t node, int32_t extremes)
{
    const char *name = g->nodes[node].name;
    const int32_t scale = g->nodes[node].out[1], zero = g->nodes[node].out[2];
    struct ig_shape bytes = g->values[extremes].shape;
    bytes.type = IG_U8;
    const int32_t unused = ig_add_value(g, name, &bytes);
    struct ig_node *n = ig_add_node(g, name, IG_DYNAMIC_QUANTIZE, 1, 3);
    n->in[0] = extremes;
    n->out[0] = unused, n->out[1] = scale, n->out[2] = zero;
    for (int k = 0; k < 3; k++) g->values[n->out[k]].producer = g->n_nodes - 1;
}

static void share(struct ig_graph *g, int32_t node)
{
    const struct ig_shape parts = {.type = IG_F32, .rank = 2, .dims = {PARTS, 2, 1, 1, 1, 1, 1, 1}};
    const int32_t x = g->nodes[node].in[0], scale = g->nodes[node].out[1], zero = g->nodes[node].out[2];
    parameters_of(g, node, edit_append(g, g->nodes[node].name, IG_EXTREMES, x, &parts));
    edit_become(g, node, IG_QUANTIZE, 3, (const int32_t[]){x, scale, zero});
    g->nodes[node].n_out = 1;
}

int ig_pass_extremes(struct ig_graph *g)
{
    int rewrites = 0;
    for (int i = 0, n = g->n_nodes; i < n; i++) {
        if (!is_large(g, &g->nodes[i])) continue;
        share(g, i);
        rewrites++;
    }
    return edit_finish(g, rewrites);
}
