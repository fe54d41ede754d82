/*
 * Products of integers that become floats right away take that over: CAST to f32, MUL by the scale of the input, as it is found when the
 * network runs, times that of the weights, ADD of a bias. onnxruntime's quantize_dynamic writes such. Each step is rounded as before.
 */
#include "graph/passes/edit.h"

enum { X_SCALE = 4, W_SCALE, BIAS, INPUTS };

static int is_product(const struct ig_node *n) {
    return n->n_out && (n->op == IG_CONV_INTEGER || n->op == IG_MATMUL_INTEGER);
}

static int is_f32(const struct ig_graph *g, int32_t v) {
    return g->values[v].shape.type == IG_F32;
}

/* The only reader of v if it is a binary node of that kind on f32 that keeps v's dims; else -1. */
static int32_t reader_of(const struct ig_graph *g, int32_t v, enum ig_binary kind) {
    const int32_t node = edit_sole_reader(g, v);
    if (node < 0 || g->nodes[node].op != IG_BINARY || g->nodes[node].attrs.binary.kind != (int32_t)kind) return -1;
    return edit_same_shape(&g->values[v].shape, &g->values[g->nodes[node].out[0]].shape) ? node : -1;
}

/* v is one number, or one for each channel of `like`, the last dim. */
static int is_by_channel(const struct ig_graph *g, int32_t v, const struct ig_shape *like, int may_be_one) {
    const struct ig_shape *s = &g->values[v].shape;
    const int64_t count = ig_count(s), channels = like->dims[like->rank - 1];
    if (may_be_one && count == 1) return 1;
    return count == channels && s->rank && s->dims[s->rank - 1] == channels;
}

static int32_t flat(struct ig_graph *g, int32_t v) {
    const struct ig_shape shape = {.type = IG_F32, .rank = 1, .dims = {(int32_t)ig_count(&g->values[v].shape), 1, 1, 1, 1, 1, 1, 1}};
    return edit_reshaped(g, v, &shape);
}

/* The product that v is, or that is given another shape, as the layout pass does with scales of channels, where v is then by channel of `like`. */
static const struct ig_node *product_of(const struct ig_graph *g, int32_t v, const struct ig_shape *like) {
    const struct ig_node *shaped = edit_producer(g, v, IG_RESHAPE), *n = edit_producer(g, shaped ? shaped->in[0] : v, IG_BINARY);
    const int is_product = n && n->attrs.binary.kind == IG_MUL && n->attrs.binary.act.kind == IG_NONE;
    return is_product && is_by_channel(g, v, like, 1) ? n : NULL;
}

/* The scales whose product v is: 1 if they are one of the input, not known yet, and constant ones of the weights; or v is the former alone. */
static int read_scales(struct ig_graph *g, int32_t v, const struct ig_shape *y, int32_t *in) {
    const struct ig_node *n = product_of(g, v, y);
    if (n) {
        const int32_t x = ig_is_const(g, n->in[0]) ? n->in[1] : n->in[0], w = edit_other(n, x);
        if (edit_f32(g, w) && !ig_is_const(g, x) && ig_count(&g->values[x].shape) == 1) { /* so w has as many elements as v, in their order */
            in[X_SCALE] = x, in[W_SCALE] = flat(g, w);
            return 1;
        }
    }
    in[X_SCALE] = v, in[W_SCALE] = -1;
    return !ig_is_const(g, v) && ig_count(&g->values[v].shape) == 1;
}

static void become(struct ig_graph *g, int32_t node, const int32_t *in, const struct ig_act *act) {
    struct ig_node *n = &g->nodes[node];
    const union ig_attrs attrs = n->attrs;
    edit_become(g, node, (enum ig_op)n->op, INPUTS, in);
    n->attrs = attrs;
    *edit_act(n) = *act;
}

static void inputs_of(const struct ig_node *n, int32_t *in) {
    for (int k = 0; k < INPUTS; k++) in[k] = k < n->n_in ? n->in[k] : -1;
}

static int take_scales(struct ig_graph *g, int32_t node) {
    int32_t in[INPUTS], cast = edit_sole_reader(g, g->nodes[node].out[0]), mul;
    inputs_of(&g->nodes[node], in);
    if (in[X_SCALE] >= 0 || cast < 0 || g->nodes[cast].op != IG_CAST || !is_f32(g, g->nodes[cast].out[0])) return 0;
    const int32_t v = g->nodes[cast].out[0];
    const struct ig_shape y = g->values[v].shape;
    if ((mul = reader_of(g, v, IG_MUL)) < 0 || !read_scales(g, edit_other(&g->nodes[mul], v), &y, in)) return 0;
    become(g, node, in, &g->nodes[mul].attrs.binary.act);
    edit_kill(&g->nodes[cast]);
    edit_take_output(g, node, mul);
    return 1;
}

static int take_bias(struct ig_graph *g, int32_t node) {
    int32_t in[INPUTS], y = g->nodes[node].out[0], add;
    inputs_of(&g->nodes[node], in);
    if (in[X_SCALE] < 0 || in[BIAS] >= 0 || edit_act(&g->nodes[node])->kind != IG_NONE || (add = reader_of(g, y, IG_ADD)) < 0) return 0;
    const int32_t bias = edit_other(&g->nodes[add], y);
    if (!edit_f32(g, bias) || !is_by_channel(g, bias, &g->values[y].shape, 0)) return 0;
    in[BIAS] = flat(g, bias);
    become(g, node, in, &g->nodes[add].attrs.binary.act);
    edit_take_output(g, node, add);
    return 1;
}

int ig_pass_scales(struct ig_graph *g) {
    int rewrites = 0;
    for (int i = 0; i < g->n_nodes; i++)
        if (is_product(&g->nodes[i])) rewrites += take_scales(g, i) + take_bias(g, i);
    return edit_finish(g, rewrites);
}
