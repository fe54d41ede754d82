/*
 * Convolutions of one image whose results are added become one, as a convolution is linear in its weights: networks that are
 * trained with several branches and exported with them (RepVGG, MobileOne, RepGhost). A smaller window lies within the
 * larger one. A branch of the image itself, scaled and shifted by channel, is a convolution by its middle tap.
 */
#include "graph/late.h"
#include "graph/passes/affine.h"
#include "graph/passes/edit.h"

/* The convolution that makes v for one reader, with constant weights and neither residual nor activation; -1: there is none. */
static int32_t branch(const struct ig_graph *g, int32_t v) {
    int32_t node = g->values[v].producer;
    if (node < 0 || edit_sole_reader(g, v) < 0) return -1;
    const struct ig_node *n = &g->nodes[node];
    if (n->op != IG_CONV || n->attrs.conv.act.kind != IG_NONE || !edit_f32(g, n->in[1])) return -1;
    if (n->n_in > 3 && n->in[3] >= 0) return -1;
    return n->n_in < 3 || n->in[2] < 0 || edit_f32(g, n->in[2]) ? node : -1;
}

/* One dim of the windows: tap 0 of the inner one is tap `before` of the outer one, and none is beyond its last. */
static int lies_within(int32_t before, int32_t k_inner, int32_t k_outer) {
    return before >= 0 && before + k_inner <= k_outer;
}

static int nests(const struct ig_graph *g, int32_t inner, int32_t outer) {
    const struct ig_node *n = &g->nodes[inner], *m = &g->nodes[outer];
    const struct ig_window *v = &n->attrs.conv.w, *w = &m->attrs.conv.w;
    if (n->in[0] != m->in[0] || n->attrs.conv.groups != m->attrs.conv.groups) return 0;
    if (v->sd != w->sd || v->sh != w->sh || v->sw != w->sw) return 0;
    if (v->dd != 1 || v->dh != 1 || v->dw != 1 || w->dd != 1 || w->dh != 1 || w->dw != 1) return 0;
    return lies_within(w->front - v->front, v->kd, w->kd) && lies_within(w->top - v->top, v->kh, w->kh) &&
           lies_within(w->left - v->left, v->kw, w->kw);
}

/* A copy of the node's weights, to be added to; *bias: one of its bias, or zeros. */
static float *own_weights(struct ig_graph *g, int32_t node, float **bias) {
    const struct ig_node was = g->nodes[node];
    const struct ig_shape shape = g->values[was.in[1]].shape;
    const struct ig_shape vector = {.type = IG_F32, .rank = 1, .dims = {shape.dims[0], 1, 1, 1, 1, 1, 1, 1}};
    const float *from = g->values[was.in[1]].data, *old = was.n_in > 2 && was.in[2] >= 0 ? g->values[was.in[2]].data : NULL;
    ig_late_fetch(g, from);
    if (old) ig_late_fetch(g, old);
    int32_t in[3] = {was.in[0], ig_add_const(g, g->values[was.in[1]].name, &shape, from), ig_add_const(g, "bias", &vector, old)};
    edit_become(g, node, IG_CONV, 3, in);
    g->nodes[node].attrs = was.attrs;
    *bias = (float *)(uintptr_t)g->values[in[2]].data;
    return (float *)(uintptr_t)g->values[in[1]].data;
}

static void add_conv(struct ig_graph *g, int32_t inner, int32_t outer) {
    float *bias, *to = own_weights(g, outer, &bias);
    const struct ig_node *n = &g->nodes[inner];
    const struct ig_window *v = &n->attrs.conv.w, *w = &g->nodes[outer].attrs.conv.w;
    const struct ig_shape *shape = &g->values[n->in[1]].shape;
    const float *from = g->values[n->in[1]].data, *add = n->n_in > 2 && n->in[2] >= 0 ? g->values[n->in[2]].data : NULL;
    ig_late_fetch(g, from);
    if (add) ig_late_fetch(g, add);
    for (int64_t i = 0; i < (int64_t)shape->dims[0] * shape->dims[1]; i++, to += w->kd * w->kh * w->kw)
        for (int32_t z = 0; z < v->kd; z++)
            for (int32_t y = 0; y < v->kh; y++)
                for (int32_t x = 0; x < v->kw; x++)
                    to[((z + w->front - v->front) * w->kh + y + w->top - v->top) * w->kw + x + w->left - v->left] += *from++;
    for (int32_t c = 0; add && c < shape->dims[0]; c++) bias[c] += add[c];
}

/* An output is at the place of the tap that it is added to. */
static int has_middle(const struct ig_window *w) {
    return w->sd == 1 && w->sh == 1 && w->sw == 1 && w->dd == 1 && w->dh == 1 && w->dw == 1 && lies_within(w->front, 1, w->kd) &&
           lies_within(w->top, 1, w->kh) && lies_within(w->left, 1, w->kw);
}

static void add_affine(struct ig_graph *g, const struct affine *a, int32_t outer) {
    float *bias, *to = own_weights(g, outer, &bias);
    const struct ig_conv *conv = &g->nodes[outer].attrs.conv;
    const struct ig_window *w = &conv->w;
    int32_t taps = w->kd * w->kh * w->kw, group = a->channels / conv->groups;
    for (int32_t c = 0; c < a->channels; c++) {
        float *tap = to + ((int64_t)c * group + c % group) * taps + (w->front * w->kh + w->top) * w->kw + w->left;
        *tap = (float)(*tap + a->scale[c]);
        bias[c] = (float)(bias[c] + a->offset[c]);
    }
}

/* v = scale[c] x + offset[c] by nodes that nothing else reads, of which it takes one or two: 1. */
static int reads_affine(const struct ig_graph *g, int32_t v, int32_t x, struct affine *a) {
    int32_t node = g->values[v].producer;
    if (node < 0 || edit_sole_reader(g, v) < 0) return 0;
    const struct ig_node *n = &g->nodes[node];
    if (n->op == IG_BINARY && n->attrs.binary.act.kind != IG_NONE) return 0;
    struct affine before, last;
    if (!affine_read(g, n, &last)) return 0;
    if (last.x == x) {
        *a = last;
        return 1;
    }
    int found = reads_affine(g, last.x, x, &before);
    if (found) {
        affine_append(&before, &last);
        *a = before;
    }
    affine_free(&last);
    return found;
}

/* The sum's operand `k` is a convolution that takes the other one in, which then goes; the convolution, or -1. */
static int32_t taker(struct ig_graph *g, const struct ig_node *sum, int k) {
    int32_t outer = branch(g, sum->in[k]), inner = branch(g, sum->in[1 - k]);
    struct affine a;
    if (outer < 0) return -1;
    if (inner >= 0 && nests(g, inner, outer)) {
        add_conv(g, inner, outer);
        return outer;
    }
    if (!has_middle(&g->nodes[outer].attrs.conv.w) || !reads_affine(g, sum->in[1 - k], g->nodes[outer].in[0], &a)) return -1;
    add_affine(g, &a, outer);
    affine_free(&a);
    return outer;
}

static int merge(struct ig_graph *g, int32_t sum) {
    const struct ig_node *n = &g->nodes[sum];
    if (!n->n_out || n->op != IG_BINARY || n->attrs.binary.kind != IG_ADD || n->in[0] == n->in[1]) return 0;
    if (!edit_same_shape(&g->values[n->in[0]].shape, &g->values[n->in[1]].shape)) return 0;
    int32_t node = taker(g, n, 0);
    if (node < 0) node = taker(g, n, 1);
    if (node < 0) return 0;
    g->nodes[node].attrs.conv.act = g->nodes[sum].attrs.binary.act;
    edit_take_output(g, node, sum);
    return 1;
}

int ig_pass_merge_branches(struct ig_graph *g) {
    int rewrites = 0;
    for (int i = 0; i < g->n_nodes; i++)
        rewrites += merge(g, i);
    return edit_finish(g, rewrites);
}
