/*
 * From ONNX's layout to channels-last. Walks the nodes in order; spatial ops ask for channels-last tensors,
 * ops defined on ONNX's layout ask for that, and all others take the order in which their operands are
 * (channels-last where there is a choice) and have their axes renamed. Tensors are transposed only where an
 * order is asked for that does not exist; ONNX's own transposes vanish into the book of versions
 * (graph/passes/layout.h).
 */
#include <string.h>

#include "graph/passes/edit.h"
#include "graph/passes/layout.h"

enum rule { PLAIN, SPATIAL, ANY, RESHAPED, TRANSPOSED };

/* A sum or product whose second operand is a pixel. */
static int has_pixel(const struct layout *l, const struct ig_node *n) {
    const struct ig_shape *a = &l->of[n->in[0]].shape, *b = &l->of[n->in[3]].shape;
    return ig_count(a) != ig_count(b);
}

static enum rule rule_of(const struct layout *l, const struct ig_node *n) {
    switch (n->op) {
    case IG_CONV:
    case IG_DECONV:
    case IG_POOL:
    case IG_GLOBAL_POOL:
    case IG_LRN:
    case IG_CONV_INTEGER:
    case IG_QLINEAR_CONV:
    case IG_QLINEAR_AFFINE:
    case IG_ROI_ALIGN:
        return SPATIAL;
    case IG_QLINEAR_BINARY:
        return has_pixel(l, n) ? SPATIAL : ANY;
    case IG_NORM:
        if (n->attrs.norm.kind == IG_NORM_INSTANCE || n->attrs.norm.kind == IG_NORM_GROUP) return SPATIAL;
        return n->attrs.norm.kind == IG_NORM_LP || n->attrs.norm.kind == IG_NORM_MVN ? ANY : PLAIN;
    case IG_RESHAPE:
        return RESHAPED;
    case IG_TRANSPOSE:
        return TRANSPOSED;
    case IG_RESIZE:
    case IG_UNARY:
    case IG_BINARY:
    case IG_WHERE:
    case IG_CAST:
    case IG_QUANTIZE:
    case IG_DEQUANTIZE:
    case IG_DYNAMIC_QUANTIZE:
    case IG_LOOKUP:
    case IG_SOFTMAX:
    case IG_REDUCE:
    case IG_ARG:
    case IG_CUMSUM:
    case IG_CONCAT:
    case IG_SLICE:
    case IG_PAD:
    case IG_EXPAND:
    case IG_TILE:
    case IG_COPY:
        return ANY;
    default:
        return PLAIN;
    }
}

static void set_in(struct layout *l, int32_t node, int k, int32_t value) {
    l->g->nodes[node].in[k] = value; /* the node is looked up again: a demand may have moved it */
}

/* Outputs from `first` on keep ONNX's order. */
static void define_plain(struct layout *l, int32_t node, int first) {
    int32_t plain[IG_MAX_RANK];
    layout_identity(IG_MAX_RANK, plain);
    for (int k = first; k < l->g->nodes[node].n_out; k++)
        if (l->g->nodes[node].out[k] >= 0) layout_define(l, l->g->nodes[node].out[k], plain);
}

static void plain(struct layout *l, int32_t node) {
    for (int k = 0; k < l->g->nodes[node].n_in; k++)
        set_in(l, node, k, layout_demand_plain(l, l->g->nodes[node].in[k]));
    define_plain(l, node, 0);
}

/* Input k of a spatial op is an image: the first one, a convolution's residual, a sum's or product's second operand. */
static int is_image(const struct ig_node *n, int k) {
    return k == 0 || (k == 3 && (n->op == IG_CONV || n->op == IG_QLINEAR_BINARY));
}

static void spatial(struct layout *l, int32_t node) {
    const struct ig_node n = l->g->nodes[node];
    int32_t perm[IG_MAX_RANK];
    layout_channels_last(l->of[n.in[0]].shape.rank, perm);
    for (int k = 0; k < n.n_in; k++) {
        if (n.in[k] < 0) continue;
        set_in(l, node, k,
               is_image(&n, k) ? layout_demand(l, n.in[k], perm) : layout_demand_plain(l, n.in[k]));
    }
    int images = n.op == IG_POOL ? n.n_out : 1;
    for (int k = 0; k < images; k++)
        if (n.out[k] >= 0) layout_define(l, n.out[k], perm);
    define_plain(l, node, images);
    l->changes++;
}

/* Input k of an op without a layout of its own is a tensor like the output, or broadcasts to it. */
static int follows(const struct layout *l, const struct ig_node *n, int k) {
    if (n->in[k] < 0) return 0;
    if (n->op == IG_QLINEAR_BINARY) return k == 0 || k == 3;
    if (n->op == IG_LOOKUP) return k == 0;
    if ((n->op != IG_QUANTIZE && n->op != IG_DEQUANTIZE) || k == 0) return 1;
    return l->of[n->in[k]].shape.rank > 1; /* blocked quantisation */
}

static int64_t cost_of(const struct layout *l, const struct ig_node *n, int32_t rank, const int32_t *perm) {
    int64_t cost = 0;
    for (int k = 0; k < n->n_in; k++)
        if (follows(l, n, k) && l->of[n->in[k]].shape.rank == rank) cost += layout_cost(l, n->in[k], perm);
    return cost;
}

/* The order for node n: the cheapest of those that its operands are in; channels-last among equals. */
static void choose(const struct layout *l, const struct ig_node *n, int32_t rank, int32_t *perm) {
    int32_t last[IG_MAX_RANK];
    int64_t best = -1;
    layout_channels_last(rank, last);
    layout_identity(rank, perm);
    for (int k = 0; k < n->n_in; k++) {
        if (!follows(l, n, k) || l->of[n->in[k]].shape.rank != rank) continue;
        if (ig_is_const(l->g, l->of[n->in[k]].versions->value)) continue;
        for (const struct layout_version *v = l->of[n->in[k]].versions; v; v = v->next) {
            int64_t cost = 2 * cost_of(l, n, rank, v->perm) + !layout_same(rank, v->perm, last);
            if (best >= 0 && cost >= best) continue;
            best = cost;
            memcpy(perm, v->perm, sizeof v->perm);
        }
    }
}

static int32_t renamed_axis(int32_t axis, int32_t rank, const int32_t *perm) {
    for (int i = 0; i < rank; i++)
        if (perm[i] == axis) return i;
    return axis;
}

static int32_t renamed_mask(int32_t mask, int32_t rank, const int32_t *perm) {
    int32_t made = 0;
    for (int i = 0; i < rank; i++)
        made |= (mask >> perm[i] & 1) << i;
    return made;
}

/* Reorders an array of one 4-byte element per dim. */
static void renamed_dims(void *array, int32_t rank, const int32_t *perm) {
    int32_t from[IG_MAX_RANK];
    memcpy(from, array, sizeof from);
    for (int i = 0; i < rank; i++)
        memcpy((char *)array + i * 4, &from[perm[i]], 4);
}

static void rename_axes(struct ig_node *n, int32_t rank, const int32_t *perm) {
    union ig_attrs *a = &n->attrs;
    switch (n->op) {
    case IG_CONCAT:
    case IG_SOFTMAX:
    case IG_QUANTIZE:
    case IG_DEQUANTIZE:
        a->axis.axis = renamed_axis(a->axis.axis, rank, perm);
        break;
    case IG_ARG:
        a->arg.axis = renamed_axis(a->arg.axis, rank, perm);
        break;
    case IG_CUMSUM:
        a->cumsum.axis = renamed_axis(a->cumsum.axis, rank, perm);
        break;
    case IG_REDUCE:
        a->reduce.mask = renamed_mask(a->reduce.mask, rank, perm);
        break;
    case IG_NORM:
        a->norm.axis = renamed_axis(a->norm.axis, rank, perm);
        a->norm.mask = renamed_mask(a->norm.mask, rank, perm);
        break;
    case IG_SLICE:
        renamed_dims(a->slice.start, rank, perm);
        renamed_dims(a->slice.step, rank, perm);
        break;
    case IG_PAD:
        renamed_dims(a->pad.begin, rank, perm);
        renamed_dims(a->pad.end, rank, perm);
        break;
    case IG_RESIZE:
        renamed_dims(a->resize.scale, rank, perm);
        renamed_dims(a->resize.roi_begin, rank, perm);
        renamed_dims(a->resize.roi_end, rank, perm);
        break;
    default:
        break;
    }
}

/* In that order the resized dims lie between the first and the last, as kernels have them. */
static int is_between(const struct layout *l, const struct ig_node *n, int32_t rank, const int32_t *perm) {
    const struct ig_shape *in = &l->of[n->in[0]].shape, *out = &l->of[n->out[0]].shape;
    const int32_t first = perm[0], last = perm[rank - 1];
    return in->dims[first] == out->dims[first] && in->dims[last] == out->dims[last];
}

static void choose_for_resize(const struct layout *l, const struct ig_node *n, int32_t rank, int32_t *perm) {
    int32_t last[IG_MAX_RANK];
    layout_channels_last(rank, last);
    if (rank > 2 && !is_between(l, n, rank, perm) && is_between(l, n, rank, last)) memcpy(perm, last, sizeof last);
}

static void any(struct layout *l, int32_t node) {
    const struct ig_node n = l->g->nodes[node];
    int32_t rank = l->of[n.out[0]].shape.rank, perm[IG_MAX_RANK];
    choose(l, &n, rank, perm);
    if (n.op == IG_RESIZE) choose_for_resize(l, &n, rank, perm);
    for (int k = 0; k < n.n_in; k++) {
        if (n.in[k] < 0) continue;
        set_in(l, node, k,
               follows(l, &n, k) ? layout_demand_broadcast(l, n.in[k], rank, perm)
                                 : layout_demand_plain(l, n.in[k]));
    }
    rename_axes(&l->g->nodes[node], rank, perm);
    layout_define(l, n.out[0], perm);
    define_plain(l, node, 1);
}

static void visit(struct layout *l, int32_t node) {
    switch (rule_of(l, &l->g->nodes[node])) {
    case SPATIAL:
        spatial(l, node);
        break;
    case ANY:
        any(l, node);
        break;
    case RESHAPED:
        layout_reshape(l, node);
        break;
    case TRANSPOSED:
        layout_transpose(l, node);
        break;
    case PLAIN:
        plain(l, node);
        break;
    }
}

/* Output i in ONNX's order, under its own name. */
static void finish_output(struct layout *l, int i) {
    struct ig_graph *g = l->g;
    int32_t v = g->outputs[i], value = layout_demand_plain(l, v);
    if (value == v) return;
    if (ig_is_input(g, value) || ig_is_output(g, value) || ig_is_const(g, value))
        value = edit_append(g, g->values[v].name, IG_COPY, value, &l->of[v].shape);
    char *name = g->values[v].name;
    g->values[v].name = g->values[value].name;
    g->values[value].name = name;
    g->outputs[i] = value;
}

int ig_pass_layout(struct ig_graph *g) {
    struct layout l = {.g = g};
    int32_t n_nodes = g->n_nodes, n_values = g->n_values, same[IG_MAX_RANK];
    if (g->channels_last) return 0;
    layout_identity(IG_MAX_RANK, same);
    l.of = ig_graph_alloc(g, (size_t)n_values * sizeof *l.of);
    for (int v = 0; v < n_values; v++) {
        l.of[v].shape = g->values[v].shape;
        if (g->values[v].producer < 0) layout_add(&l, v, v, same);
    }
    for (int i = 0; i < n_nodes; i++)
        visit(&l, i);
    for (int i = 0; i < g->n_outputs; i++)
        finish_output(&l, i);
    g->channels_last = 1;
    return edit_finish(g, l.changes);
}
