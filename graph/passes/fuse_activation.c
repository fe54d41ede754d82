/* The activation after a conv, deconv, fc, binary or product of integers that makes floats becomes its epilogue. */
#include "graph/passes/edit.h"
#include "graph/passes/unary.h"

static int fuse(struct ig_graph *g, int32_t node) {
    struct ig_node *n = &g->nodes[node];
    struct ig_act both, *act = n->op == IG_UNARY ? NULL : edit_act(n);
    if (!n->n_out || !act || g->values[n->out[0]].shape.type != IG_F32) return 0;
    int32_t reader = edit_sole_reader(g, n->out[0]);
    if (reader < 0 || g->nodes[reader].op != IG_UNARY) return 0;
    const struct ig_act *next = &g->nodes[reader].attrs.unary.act;
    if (!unary_compose(act, next, &both) || both.kind >= IG_FUSABLE) return 0;
    *act = both;
    edit_take_output(g, node, reader);
    return 1;
}

int ig_pass_fuse_activation(struct ig_graph *g) {
    int rewrites = 0;
    for (int i = 0; i < g->n_nodes; i++)
        while (fuse(g, i))
            rewrites++;
    return edit_finish(g, rewrites);
}
