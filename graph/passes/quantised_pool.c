/* Averages of quantised tensors: of windows, of images as of a window that is as large. */
#include "graph/passes/edit.h"
#include "graph/passes/quantised.h"

/* Mask of the spatial dims in ONNX's layout. */
static int32_t space_of(int32_t rank) {
    return ((1 << rank) - 1) & ~3;
}

static struct ig_pool whole(const struct ig_shape *image) {
    struct ig_pool p = {.kind = IG_POOL_AVERAGE, .w = {1, 1, image->dims[image->rank - 1], 1, 1, 1, 1, 1, 1, 0, 0, 0, 0, 0, 0, 1, 1}};
    if (image->rank > 3) p.w.kh = image->dims[2];
    return p;
}

/* Node n is an average of images of one or two dims: 1, and its window. */
static int read_average(const struct ig_graph *g, const struct ig_node *n, struct ig_pool *p) {
    const struct ig_shape *x = n->n_in ? &g->values[n->in[0]].shape : NULL;
    if (!x || n->n_in > 1 || x->rank < 3 || x->rank > 4) return 0;
    int all = (n->op == IG_GLOBAL_POOL && n->attrs.global_pool.kind == IG_POOL_AVERAGE) ||
              (n->op == IG_REDUCE && n->attrs.reduce.kind == IG_REDUCE_MEAN && n->attrs.reduce.mask == space_of(x->rank));
    *p = all ? whole(x) : n->attrs.pool;
    return all || (n->op == IG_POOL && p->kind == IG_POOL_AVERAGE);
}

int quantised_is_average(const struct ig_graph *g, const struct ig_node *n) {
    struct ig_pool p;
    return read_average(g, n, &p);
}

int quantised_pool(struct ig_graph *g, const struct quantised_end *end) {
    int32_t node = g->values[end->float_value].producer;
    const int32_t most = INT32_MAX / 255; /* taps whose sum fits */
    struct quantised x;
    struct ig_pool p;
    if (end->clip.kind != IG_NONE || !read_average(g, &g->nodes[node], &p) || (int64_t)p.w.kh * p.w.kw >= most) return 0;
    if (!quantised_read_one(g, g->nodes[node].in[0], &x)) return 0;
    int32_t in[5] = {x.value, x.scale, quantised_zero(g, &x), end->y.scale, quantised_zero(g, &end->y)};
    edit_become(g, node, IG_POOL, 5, in);
    g->nodes[node].attrs.pool = p;
    if (end->act >= 0) edit_kill(&g->nodes[end->act]);
    edit_take_output(g, node, end->node);
    return 1;
}
