/*
 * Half precision as storage: weights of convolutions and fully connected layers, and the tensors between
 * layers, become f16; what is computed stays f32. The network's inputs and outputs stay what they are, as do
 * the tensors of ops that have no kernels on halves. What only moves data needs one type on both sides, so
 * such tensors change together.
 */
#include "graph/passes/edit.h"

#include <math.h>

static const float half_max = 65504;

static int is_flat(const struct ig_window *w) {
    return w->kd == 1 && w->in_d == 1 && w->out_d == 1 && w->front == 0 && w->back == 0;
}

/* Of images, by lines between neighbouring pixels: what the kernels on halves compute of it, as those on floats do. */
static int is_linear(const struct ig_graph *g, const struct ig_node *n) {
    const struct ig_resize *a = &n->attrs.resize;
    const int coord = a->coord == IG_HALF_PIXEL || a->coord == IG_ASYMMETRIC || a->coord == IG_PYTORCH_HALF_PIXEL || a->coord == IG_ALIGN_CORNERS;
    return a->mode == IG_LINEAR && coord && !a->antialias && !a->exclude_outside && g->values[n->in[0]].shape.rank == 4 && a->scale[0] == 1 &&
           a->scale[3] == 1;
}

/* Reads and writes f32 and f16 alike. */
static int computes(const struct ig_graph *g, const struct ig_node *n) {
    switch (n->op) {
    case IG_FC:
    case IG_GLOBAL_POOL:
    case IG_SOFTMAX:
        return 1;
    case IG_CONV:
    case IG_DECONV:
        return is_flat(&n->attrs.conv.w);
    case IG_POOL:
        return is_flat(&n->attrs.pool.w) && (n->n_out < 2 || n->out[1] < 0);
    case IG_UNARY:
        return n->attrs.unary.act.kind != IG_ISINF && n->attrs.unary.act.kind != IG_ISNAN;
    case IG_BINARY:
        return n->attrs.binary.kind <= IG_PRELU;
    case IG_RESIZE:
        return is_linear(g, n);
    default:
        return 0;
    }
}

static int moves(const struct ig_node *n) {
    if (n->op == IG_RESIZE) return n->attrs.resize.mode == IG_NEAREST;
    return n->op == IG_CONCAT || n->op == IG_RESHAPE || n->op == IG_SLICE || n->op == IG_COPY;
}

int ig_stores_halves(const struct ig_graph *g, const struct ig_node *n) {
    if (computes(g, n)) return 1;
    for (int k = 0; moves(n) && k < n->n_in; k++)
        if (n->in[k] < 0 || g->values[n->in[k]].shape.type != g->values[n->out[0]].shape.type) return 0;
    return moves(n);
}

static int has_weights(const struct ig_node *n) {
    return n->op == IG_CONV || n->op == IG_DECONV || n->op == IG_FC;
}

/* A constant whose elements are within the range of halves. */
static int fits(const struct ig_graph *g, int32_t v) {
    const float *p = edit_f32(g, v);
    int64_t n = p ? ig_count(&g->values[v].shape) : 0;
    for (int64_t i = 0; i < n; i++)
        if (!(fabsf(p[i]) <= half_max)) return 0;
    return p != NULL;
}

static int weights_fit(const struct ig_graph *g, const struct ig_node *n) {
    for (int k = 1; k < n->n_in && k < 3; k++)
        if (n->in[k] >= 0 && !fits(g, n->in[k])) return 0;
    return 1;
}

static int takes_halves(const struct ig_graph *g, const struct ig_node *n) {
    return computes(g, n) && (!has_weights(n) || weights_fit(g, n));
}

static int excludes(uint8_t *may, const int32_t *values, int32_t n) {
    int changed = 0;
    for (int k = 0; k < n; k++) {
        if (values[k] < 0) continue;
        changed += may[values[k]];
        may[values[k]] = 0;
    }
    return changed;
}

static int any_excluded(const uint8_t *may, const int32_t *values, int32_t n) {
    for (int k = 0; k < n; k++)
        if (values[k] >= 0 && !may[values[k]]) return 1;
    return 0;
}

/* may[v]: v may be of halves. */
static void choose(const struct ig_graph *g, uint8_t *may) {
    for (int v = 0; v < g->n_values; v++)
        may[v] = g->values[v].shape.type == IG_F32 && !ig_is_const(g, v);
    excludes(may, g->inputs, g->n_inputs);
    excludes(may, g->outputs, g->n_outputs);
    for (int changed = 1; changed;) {
        changed = 0;
        for (int i = 0; i < g->n_nodes; i++) {
            const struct ig_node *n = &g->nodes[i];
            if (takes_halves(g, n)) continue;
            int whole = !any_excluded(may, n->in, n->n_in) && !any_excluded(may, n->out, n->n_out);
            if (moves(n) && whole) continue;
            changed += excludes(may, n->in, n->n_in) + excludes(may, n->out, n->n_out);
        }
    }
}

static int32_t halved(struct ig_graph *g, int32_t v) {
    struct ig_shape shape = g->values[v].shape;
    const float *from = edit_f32(g, v);
    shape.type = IG_F16;
    int32_t to = ig_add_const(g, g->values[v].name, &shape, NULL);
    uint16_t *data = (uint16_t *)(uintptr_t)g->values[to].data;
    for (int64_t i = 0; i < ig_count(&shape); i++)
        data[i] = ig_float_to_half(from[i]);
    return to;
}

/* now[v]: the constant of halves that v has become, -1: none yet. */
static void halve_weights(struct ig_graph *g, struct ig_node *n, int32_t *now) {
    for (int k = 1; k < n->n_in && k < 3; k++) {
        int32_t v = n->in[k];
        if (v < 0) continue;
        if (now[v] < 0) now[v] = halved(g, v);
        n->in[k] = now[v];
    }
}

int ig_pass_half(struct ig_graph *g) {
    int32_t values = g->n_values;
    uint8_t *may = ig_graph_alloc(g, (size_t)values + 1);
    int32_t *now = ig_graph_alloc(g, ((size_t)values + 1) * sizeof *now);
    int rewrites = 0;
    choose(g, may);
    for (int v = 0; v < values; v++) {
        now[v] = -1;
        rewrites += may[v];
        if (may[v]) g->values[v].shape.type = IG_F16;
    }
    for (int i = 0; i < g->n_nodes; i++) {
        if (!has_weights(&g->nodes[i]) || !takes_halves(g, &g->nodes[i])) continue;
        halve_weights(g, &g->nodes[i], now);
        rewrites++;
    }
    return edit_finish(g, rewrites);
}
