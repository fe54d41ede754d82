/*
 * MATMUL with a constant right side: FC for matrices; a 1x1 convolution for a stack of them ([N,L,K],
 * [N,H,W,K], ...), which is the same arithmetic and keeps the shape, so that bias, residual and activation
 * fold into it. One of more dims than a convolution has, as of windows of pixels, is one of rows between two reshapes, and takes
 * its bias in here.
 */
#include <string.h>

#include "graph/late.h"
#include "graph/passes/affine.h"
#include "graph/passes/edit.h"

enum { MOST_RANK = 5 }; /* of a convolution's image */

/* The shape [N,K] of the right side, read as weights; 0 if it is a stack of matrices. */
static int weight_shape(const struct ig_graph *g, const struct ig_node *n, struct ig_shape *w) {
    const struct ig_shape *b = &g->values[n->in[1]].shape;
    if (b->rank < 2) return 0;
    for (int i = 0; i < b->rank - 2; i++)
        if (b->dims[i] != 1) return 0;
    int trans = n->attrs.matmul.trans_b;
    *w = (struct ig_shape){.type = IG_F32, .rank = 2, .dims = {1, 1, 1, 1, 1, 1, 1, 1}};
    w->dims[0] = b->dims[b->rank - (trans ? 2 : 1)];
    w->dims[1] = b->dims[b->rank - (trans ? 1 : 2)];
    return 1;
}

static int convertible(const struct ig_graph *g, const struct ig_node *n, struct ig_shape *w) {
    if (!n->n_out || n->op != IG_MATMUL || n->attrs.matmul.trans_a || !edit_f32(g, n->in[1])) return 0;
    const struct ig_shape *x = &g->values[n->in[0]].shape, *y = &g->values[n->out[0]].shape;
    return x->rank >= 2 && y->rank == x->rank && weight_shape(g, n, w);
}

/* The right side as [N,K] times alpha; the very constant where that is what it is. */
static int32_t weights(struct ig_graph *g, const struct ig_node *n, const struct ig_shape *w) {
    int32_t b = n->in[1];
    int64_t rows = w->dims[0], k = w->dims[1];
    double alpha = n->attrs.matmul.alpha;
    if (n->attrs.matmul.trans_b && alpha == 1) return edit_reshaped(g, b, w);
    int64_t row_step = n->attrs.matmul.trans_b ? k : 1, k_step = n->attrs.matmul.trans_b ? 1 : rows;
    int32_t made = ig_add_const(g, g->values[b].name, w, NULL);
    const float *from = g->values[b].data;
    ig_late_fetch(g, from);
    float *to = (float *)(uintptr_t)g->values[made].data;
    for (int64_t i = 0; i < rows; i++)
        for (int64_t j = 0; j < k; j++)
            to[i * k + j] = (float)(alpha * from[i * row_step + j * k_step]);
    return made;
}

static void set_pointwise(struct ig_conv *c) {
    c->groups = 1;
    c->w = (struct ig_window){.kd = 1,
                              .kh = 1,
                              .kw = 1,
                              .sd = 1,
                              .sh = 1,
                              .sw = 1,
                              .dd = 1,
                              .dh = 1,
                              .dw = 1,
                              .in_d = 1,
                              .out_d = 1};
}

static void convert(struct ig_graph *g, int32_t node, const struct ig_shape *w) {
    int32_t x = g->nodes[node].in[0], rank = g->values[x].shape.rank;
    struct ig_shape shape = *w;
    int32_t in[4] = {x, weights(g, &g->nodes[node], w), -1, -1};
    shape.rank = rank;
    in[1] = edit_reshaped(g, in[1], &shape); /* [N,K,1,..] for a convolution */
    edit_become(g, node, rank == 2 ? IG_FC : IG_CONV, 4, in);
    if (rank == 2) return;
    struct ig_conv *c = &g->nodes[node].attrs.conv;
    set_pointwise(c);
    if (rank == 5) c->w.in_d = c->w.out_d = g->values[x].shape.dims[1];
}

/* The node's only reader, if all that it does is to add a vector along the channels, then in *bias; else -1. */
static int32_t takes_bias(struct ig_graph *g, int32_t node, int32_t *bias) {
    int32_t reader = edit_sole_reader(g, g->nodes[node].out[0]);
    struct affine a;
    if (reader < 0 || g->nodes[reader].op != IG_BINARY || g->nodes[reader].attrs.binary.act.kind != IG_NONE) return -1;
    if (!affine_read(g, &g->nodes[reader], &a)) return -1;
    int found = !affine_scales(&a);
    if (found) {
        const struct ig_shape shape = {.type = IG_F32, .rank = 1, .dims = {a.channels, 1, 1, 1, 1, 1, 1, 1}};
        *bias = ig_add_const(g, "bias", &shape, NULL);
        for (int32_t i = 0; i < a.channels; i++) ((float *)(uintptr_t)g->values[*bias].data)[i] = (float)a.offset[i];
    }
    affine_free(&a);
    return found ? reader : -1;
}

/* The node becomes the reshape behind a convolution of [1,rows,K]. */
static void convert_rows(struct ig_graph *g, int32_t node, const struct ig_shape *w) {
    int32_t x = g->nodes[node].in[0], bias = -1, reader = takes_bias(g, node, &bias);
    int32_t rows = (int32_t)(ig_count(&g->values[x].shape) / w->dims[1]);
    struct ig_shape shape = *w, from = {.type = IG_F32, .rank = 3, .dims = {1, rows, w->dims[1], 1, 1, 1, 1, 1}}, to = from;
    const char *name = g->values[g->nodes[node].out[0]].name;
    to.dims[2] = w->dims[0];
    shape.rank = 3;
    int32_t in[4] = {edit_reshaped(g, x, &from), edit_reshaped(g, weights(g, &g->nodes[node], w), &shape), bias, -1};
    int32_t y = edit_append(g, name, IG_CONV, in[0], &to), conv = g->n_nodes - 1;
    edit_become(g, conv, IG_CONV, 4, in);
    set_pointwise(&g->nodes[conv].attrs.conv);
    edit_become(g, node, IG_RESHAPE, 1, &y);
    if (reader >= 0) edit_take_output(g, node, reader);
}

int ig_pass_matmul_to_fc(struct ig_graph *g) {
    int rewrites = 0;
    struct ig_shape w;
    for (int i = 0, n = g->n_nodes; i < n; i++) {
        if (!convertible(g, &g->nodes[i], &w)) continue;
        (g->values[g->nodes[i].in[0]].shape.rank > MOST_RANK ? convert_rows : convert)(g, i, &w);
        rewrites++;
    }
    return edit_finish(g, rewrites);
}
