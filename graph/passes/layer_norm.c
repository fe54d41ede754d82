/*
 * Channels-last: layer and RMS normalisation over the last axis as exporters before opset 17 write it, d / sqrt(mean d^2 + epsilon) with d = x - mean x, or
 * x itself, then factors and summands of the channels, becomes one NORM.
 */
#include <string.h>

#include "graph/passes/edit.h"

static const struct ig_node *binary(const struct ig_graph *g, int32_t v, int32_t kind)
{
    const struct ig_node *n = edit_producer(g, v, IG_BINARY);
    return n && n->attrs.binary.kind == kind && n->attrs.binary.act.kind == IG_NONE ? n : NULL;
}

/* Of which v is the mean over the last axis, which stays with one element; -1: of nothing. */
static int32_t averaged(const struct ig_graph *g, int32_t v)
{
    const struct ig_node *n = edit_producer(g, v, IG_REDUCE);
    if (!n || n->attrs.reduce.kind != IG_REDUCE_MEAN) return -1;
    const struct ig_shape *x = &g->values[n->in[0]].shape;
    return x->rank > 0 && n->attrs.reduce.mask == 1 << (x->rank - 1) && g->values[v].shape.rank == x->rank ? n->in[0] : -1;
}

/* Of which v is the square. */
static int32_t squared(const struct ig_graph *g, int32_t v)
{
    float exponent;
    const struct ig_node *n = binary(g, v, IG_MUL);
    if (n) return n->in[0] == n->in[1] ? n->in[0] : -1;
    n = binary(g, v, IG_POW);
    return n && edit_uniform(g, n->in[1], &exponent) && exponent == 2 ? n->in[0] : -1;
}

/* What v is besides a number that is added to it. */
static int32_t without_summand(const struct ig_graph *g, int32_t v, float *summand)
{
    const struct ig_node *n = edit_producer(g, v, IG_UNARY);
    if (n && n->attrs.unary.act.kind == IG_AFFINE && n->attrs.unary.act.alpha == 1) {
        *summand = n->attrs.unary.act.beta;
        return n->in[0];
    }
    n = binary(g, v, IG_ADD);
    for (int k = 0; n && k < 2; k++)
        if (edit_uniform(g, n->in[k], summand) && edit_same_shape(&g->values[v].shape, &g->values[n->in[1 - k]].shape)) return n->in[1 - k];
    return -1;
}

/* The quotient is a normalisation of *x. */
static int matches(const struct ig_graph *g, const struct ig_node *n, int32_t *x, struct ig_norm *norm)
{
    if (n->op != IG_BINARY || n->attrs.binary.kind != IG_DIV || n->attrs.binary.act.kind != IG_NONE) return 0;
    const struct ig_node *root = edit_producer(g, n->in[1], IG_UNARY), *difference = binary(g, n->in[0], IG_SUB);
    if (!root || root->attrs.unary.act.kind != IG_SQRT || g->values[n->in[0]].shape.type != IG_F32) return 0;
    memset(norm, 0, sizeof *norm);
    const int32_t mean = without_summand(g, root->in[0], &norm->epsilon), square = mean < 0 ? -1 : averaged(g, mean);
    if (square < 0 || squared(g, square) != n->in[0]) return 0;
    const int centred = difference && averaged(g, difference->in[1]) == difference->in[0];
    *x = centred ? difference->in[0] : n->in[0];
    norm->kind = centred ? IG_NORM_LAYER : IG_NORM_RMS;
    norm->axis = g->values[*x].shape.rank - 1;
    return edit_same_shape(&g->values[*x].shape, &g->values[n->out[0]].shape);
}

/* 1 if constant v has a float for each channel. */
static int is_by_channel(const struct ig_graph *g, int32_t v, const struct ig_shape *x)
{
    const struct ig_shape *s = &g->values[v].shape;
    return edit_f32(g, v) && s->rank > 0 && s->rank <= x->rank && s->dims[s->rank - 1] == x->dims[x->rank - 1] && ig_count(s) == s->dims[s->rank - 1];
}

/* The next node's factors or summands, if there is nothing else to it: that node; -1: there is something. */
static int32_t next_of(const struct ig_graph *g, int32_t y, int32_t kind, int32_t *parameter)
{
    const int32_t reader = edit_sole_reader(g, y);
    const struct ig_node *n = reader < 0 ? NULL : &g->nodes[reader];
    if (!n || n->op != IG_BINARY || n->attrs.binary.kind != kind || n->attrs.binary.act.kind != IG_NONE) return -1;
    *parameter = edit_other(n, y);
    return is_by_channel(g, *parameter, &g->values[y].shape) ? reader : -1;
}

static int32_t as_line(struct ig_graph *g, int32_t v)
{
    const struct ig_shape *s = &g->values[v].shape, line = {s->type, 1, {s->dims[s->rank - 1], 1, 1, 1, 1, 1, 1, 1}};
    return edit_reshaped(g, v, &line);
}

static void rewrite(struct ig_graph *g, int32_t node, int32_t x, struct ig_norm norm)
{
    int32_t in[3] = {x, -1, -1}, n_in = 1, v;
    for (int k = 1; k < 3; k++) {
        const int32_t next = next_of(g, g->nodes[node].out[0], k == 1 ? IG_MUL : IG_ADD, &v);
        if (next < 0) continue;
        in[k] = as_line(g, v);
        n_in = k + 1;
        edit_take_output(g, node, next);
    }
    edit_become(g, node, IG_NORM, n_in, in);
    g->nodes[node].attrs.norm = norm;
}

int ig_pass_layer_norm(struct ig_graph *g)
{
    int rewrites = 0;
    for (int32_t i = 0; i < g->n_nodes; i++) {
        struct ig_norm norm;
        int32_t x;
        if (!g->nodes[i].n_out || !matches(g, &g->nodes[i], &x, &norm)) continue;
        rewrite(g, i, x, norm);
        rewrites++;
    }
    return edit_finish(g, rewrites);
}
