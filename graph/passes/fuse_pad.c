/*
 * PAD with zeros moves into the window of the next convolution or pool; of bytes, with the zero point, into that of a
 * quantised convolution. An average pool must then count the
 * padding (its own padding must not exist, or be counted already); a max pool is left alone, as its padding
 * is -inf.
 */
#include "graph/passes/edit.h"

enum { MOST_PADDING = 1 << 24 }; /* of a window, as shape inference has it */

static int pads_space_only(const struct ig_graph *g, const struct ig_node *n) {
    const struct ig_shape *x = &g->values[n->in[0]].shape;
    const struct ig_pad *p = &n->attrs.pad;
    int last = x->rank - 1;
    if (x->rank < 3 || p->mode != IG_PAD_CONSTANT) return 0;
    if (p->begin[0] || p->end[0] || p->begin[last] || p->end[last]) return 0;
    for (int i = 1; i < last; i++)
        if (p->begin[i] < 0 || p->end[i] < 0 || p->begin[i] > MOST_PADDING || p->end[i] > MOST_PADDING) return 0;
    return 1;
}

/* 1 if what is put around x is what node n takes what lies beyond the edge for. */
static int pads_alike(const struct ig_graph *g, const struct ig_node *n, const struct ig_pad *p) {
    const struct ig_value *zero = n->op == IG_QLINEAR_CONV ? &g->values[n->in[2]] : NULL;
    if (!zero) return g->values[n->in[0]].shape.type == IG_F32 && p->value == 0;
    return zero->data && ig_as_double(zero->shape.type, zero->data, 0) == (double)p->value;
}

/* 1 if the pool has no padding but ceil_mode's overhang, which is never counted. */
static int unpadded(const struct ig_pool *p) {
    const struct ig_window *w = &p->w;
    return !w->front && !w->top && !w->left && w->back == p->ceil_d && w->bottom == p->ceil_h &&
           w->right == p->ceil_w;
}

/* The window of node n if zeros around its input are the same as padding, else NULL. */
static struct ig_window *window_of(struct ig_node *n) {
    struct ig_pool *p = &n->attrs.pool;
    if (n->op == IG_CONV || n->op == IG_QLINEAR_CONV) return &n->attrs.conv.w;
    if (n->op != IG_POOL || p->kind == IG_POOL_MAX || n->n_in > 1) return NULL;
    if (p->kind == IG_POOL_AVERAGE && !p->count_include_pad && !unpadded(p)) return NULL;
    return &p->w;
}

static void widen(struct ig_window *w, const struct ig_pad *p, const struct ig_shape *x) {
    int last = x->rank - 2; /* the width; rows and depth before it */
    w->left += p->begin[last];
    w->right += p->end[last];
    if (x->rank > 3) {
        w->top += p->begin[last - 1];
        w->bottom += p->end[last - 1];
    }
    if (x->rank > 4) {
        w->front += p->begin[1];
        w->back += p->end[1];
        w->in_d = x->dims[1];
    }
}

static int too_wide(const struct ig_window *w) {
    const int32_t pads[] = {w->front, w->top, w->left, w->back, w->bottom, w->right};
    for (size_t i = 0; i < sizeof pads / sizeof *pads; i++)
        if (pads[i] > MOST_PADDING) return 1;
    return 0;
}

static int fuse(struct ig_graph *g, struct ig_node *pad) {
    int32_t reader = edit_sole_reader(g, pad->out[0]);
    if (reader < 0 || g->nodes[reader].in[0] != pad->out[0]) return 0;
    struct ig_node *n = &g->nodes[reader];
    struct ig_window *w = window_of(n);
    if (!w || !pads_alike(g, n, &pad->attrs.pad)) return 0;
    struct ig_window wide = *w;
    widen(&wide, &pad->attrs.pad, &g->values[pad->in[0]].shape);
    if (too_wide(&wide)) return 0;
    *w = wide;
    if (n->op == IG_POOL) n->attrs.pool.count_include_pad = 1;
    n->in[0] = pad->in[0];
    edit_kill(pad);
    return 1;
}

int ig_pass_fuse_pad(struct ig_graph *g) {
    int rewrites = 0;
    for (int i = 0; i < g->n_nodes; i++) {
        struct ig_node *n = &g->nodes[i];
        if (n->n_out && n->op == IG_PAD && pads_space_only(g, n)) rewrites += fuse(g, n);
    }
    return edit_finish(g, rewrites);
}
