/*
 * A 1x1 convolution of many images of few pixels is one of a single image: by themselves they would read all weights for each. So
 * are the products of attention with tokens that come as [tokens, batch, channels]. Shapes in front and behind stay: reshapes, which
 * are views, stand between. For when all else has settled, as they hide from other passes what goes into a convolution.
 */
#include "graph/passes/edit.h"

enum { FEW = 64 /* pixels of an image */ };

static int is_pointwise(const struct ig_window *w) {
    return w->kd * w->kh * w->kw == 1 && w->sd * w->sh * w->sw == 1 && !w->front && !w->top && !w->left && !w->back && !w->bottom &&
           !w->right;
}

/* [N,W,C] as [1,NW,C], [N,H,W,C] as [1,NH,W,C]. */
static struct ig_shape one_image(const struct ig_shape *s) {
    struct ig_shape one = *s;
    one.dims[1] *= one.dims[0];
    one.dims[0] = 1;
    return one;
}

static int are_few(const struct ig_shape *s) {
    int64_t pixels = 1;
    for (int32_t d = 1; d < s->rank - 1; d++)
        pixels *= s->dims[d];
    return (s->rank == 3 || s->rank == 4) && s->dims[0] > 1 && pixels <= FEW && s->dims[0] * pixels <= INT32_MAX;
}

/* The node makes a value of that shape, which a new RESHAPE turns to what it made. */
static void reshape_output(struct ig_graph *g, int32_t node, const struct ig_shape *shape) {
    int32_t y = g->nodes[node].out[0], all = ig_add_value(g, g->values[y].name, shape);
    struct ig_node *n = ig_add_node(g, NULL, IG_RESHAPE, 1, 1);
    n->in[0] = all;
    n->out[0] = y;
    g->values[y].producer = g->n_nodes - 1;
    g->nodes[node].out[0] = all;
    g->values[all].producer = node;
}

static int rewrite(struct ig_graph *g, int32_t node) {
    const struct ig_node *n = &g->nodes[node];
    if (!n->n_out || n->op != IG_CONV || !is_pointwise(&n->attrs.conv.w) || !are_few(&g->values[n->out[0]].shape)) return 0;
    for (int32_t k = 0; k < n->n_in; k += 3) { /* pixels, residual */
        int32_t x = g->nodes[node].in[k];
        if (x < 0) continue;
        const struct ig_shape shape = one_image(&g->values[x].shape);
        x = edit_reshaped(g, x, &shape);
        g->nodes[node].in[k] = x;
        n = &g->nodes[node];
    }
    const struct ig_shape one = one_image(&g->values[n->out[0]].shape);
    reshape_output(g, node, &one);
    return 1;
}

int ig_pass_batch(struct ig_graph *g) {
    int rewrites = 0;
    for (int i = 0, n = g->n_nodes; i < n; i++)
        rewrites += rewrite(g, i);
    return edit_finish(g, rewrites);
}
