/* Nodes whose inputs are all constant become constants. Reshapes and transposes are done here, the rest by
 * `eval`. Quantised weights may grow to floats: what reads them wants constants. */
#include "graph/late.h"
#include "graph/passes/edit.h"

enum {
    MAX_GROWTH = 1 << 20
}; /* bytes that folding a node may add: a large Expand of a constant stays a node */

static int foldable(const struct ig_graph *g, const struct ig_node *n) {
    int64_t in = 0, out = 0;
    for (int k = 0; k < n->n_in; k++) {
        if (n->in[k] < 0) continue;
        if (!ig_is_const(g, n->in[k])) return 0;
        in += ig_bytes(&g->values[n->in[k]].shape);
    }
    for (int k = 0; k < n->n_out; k++)
        if (n->out[k] >= 0) out += ig_bytes(&g->values[n->out[k]].shape);
    return in > 0 && (n->op == IG_DEQUANTIZE || out <= in + MAX_GROWTH);
}

static int move_only(struct ig_graph *g, const struct ig_node *n) {
    struct ig_value *x = &g->values[n->in[0]], *y = &g->values[n->out[0]];
    if (n->op == IG_RESHAPE || n->op == IG_COPY) {
        y->data = x->data;
        return 1;
    }
    if (n->op != IG_TRANSPOSE) return 0;
    ig_late_fetch(g, x->data);
    void *data = ig_graph_alloc(g, (size_t)ig_bytes(&y->shape));
    edit_permute(&x->shape, x->data, n->attrs.transpose.perm, data);
    y->data = data;
    return 1;
}

static int evaluated(struct ig_graph *g, const struct ig_node *n, ig_eval_fn *eval) {
    for (int k = 0; k < n->n_in; k++)
        if (n->in[k] >= 0) ig_late_fetch(g, g->values[n->in[k]].data);
    const void **in = ig_graph_alloc(g, (size_t)n->n_in * sizeof *in);
    void **out = ig_graph_alloc(g, (size_t)n->n_out * sizeof *out);
    for (int k = 0; k < n->n_in; k++)
        in[k] = n->in[k] < 0 ? NULL : g->values[n->in[k]].data;
    for (int k = 0; k < n->n_out; k++)
        if (n->out[k] >= 0) out[k] = ig_graph_alloc(g, (size_t)ig_bytes(&g->values[n->out[k]].shape));
    if (eval(g, n, in, out)) return 0;
    for (int k = 0; k < n->n_out; k++)
        if (n->out[k] >= 0) g->values[n->out[k]].data = out[k];
    return 1;
}

int edit_fold(struct ig_graph *g, int32_t node, ig_eval_fn *eval) {
    struct ig_node *n = &g->nodes[node];
    if (!n->n_out || !foldable(g, n)) return 0;
    if (!move_only(g, n) && (!eval || !evaluated(g, n, eval))) return 0;
    for (int k = 0; k < n->n_out; k++)
        if (n->out[k] >= 0) g->values[n->out[k]].producer = -1;
    edit_kill(n);
    return 1;
}

int ig_pass_fold_constants(struct ig_graph *g, ig_eval_fn *eval) {
    int folded = 0;
    for (int i = 0; i < g->n_nodes; i++)
        folded += edit_fold(g, i, eval);
    return edit_finish(g, folded);
}
