/* Reductions over all of space, and pools whose window is the whole image, become global pools. */
#include <string.h>

#include "graph/passes/edit.h"

/* Mask of the spatial dims of a channels-last tensor. */
static int32_t space_of(int32_t rank) {
    return rank < 3 ? 0 : ((1 << (rank - 1)) - 1) & ~1;
}

static int reduces_space(const struct ig_graph *g, const struct ig_node *n) {
    const struct ig_shape *s = &g->values[n->in[0]].shape;
    int32_t rank = s->rank, kind = n->attrs.reduce.kind;
    if (rank < 3 || rank > 5 || s->type != IG_F32 || g->values[n->out[0]].shape.rank != rank) return 0;
    return n->attrs.reduce.mask == space_of(rank) && (kind == IG_REDUCE_MEAN || kind == IG_REDUCE_MAX);
}

static int pools_all(const struct ig_graph *g, const struct ig_node *n) {
    const struct ig_shape *x = &g->values[n->in[0]].shape, *y = &g->values[n->out[0]].shape;
    const struct ig_pool *p = &n->attrs.pool;
    const struct ig_window *w = &p->w;
    if (p->kind == IG_POOL_LP || n->n_out > 1 || x->type != IG_F32 || x->rank < 3) return 0;
    if (w->front || w->top || w->left || w->back || w->bottom || w->right) return 0;
    for (int i = 1; i < x->rank - 1; i++)
        if (y->dims[i] != 1) return 0;
    int h = x->rank > 3 ? x->dims[x->rank - 3] : 1, d = x->rank > 4 ? x->dims[1] : 1;
    return w->kw == x->dims[x->rank - 2] && w->kh == h && w->kd == d && w->dw == 1 && w->dh == 1 &&
           w->dd == 1;
}

int ig_pass_global_pool(struct ig_graph *g) {
    int rewrites = 0;
    for (int i = 0; i < g->n_nodes; i++) {
        struct ig_node *n = &g->nodes[i];
        int32_t kind;
        if (n->n_out && n->op == IG_REDUCE && reduces_space(g, n))
            kind = n->attrs.reduce.kind == IG_REDUCE_MEAN ? IG_POOL_AVERAGE : IG_POOL_MAX;
        else if (n->n_out && n->op == IG_POOL && pools_all(g, n))
            kind = n->attrs.pool.kind;
        else
            continue;
        n->op = IG_GLOBAL_POOL;
        memset(&n->attrs, 0, sizeof n->attrs);
        n->attrs.global_pool.kind = kind;
        rewrites++;
    }
    return edit_finish(g, rewrites);
}
