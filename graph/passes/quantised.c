/*
 * Float ops between DEQUANTIZE and QUANTIZE become ops on bytes. What only moves or selects elements is done to the bytes
 * themselves: the DEQUANTIZE goes behind it, the QUANTIZE before a CONCAT. What is between the two and computes element by
 * element, if anything, is a table: quantised_lookup.c. Convolutions, products and sums of two tensors: quantised_layer.c.
 * What is left keeps its floats.
 */
#include "graph/passes/quantised.h"

#include <math.h>

#include "graph/late.h"
#include "graph/passes/edit.h"

enum { FARTHEST = 64 }; /* tensors that are looked at behind one that only moves */

/* --- what is there --- */

/* A product or quotient of two of them is still a normal float. */
static int is_scale(const struct ig_graph *g, int32_t v) {
    const float *s = edit_f32(g, v);
    if (!s) return 0;
    ig_late_fetch(g, s);
    for (int64_t i = 0; i < ig_count(&g->values[v].shape); i++)
        if (!(s[i] > 1e-18f && s[i] < 1e18f)) return 0;
    return 1;
}

/* Scale and zero of a QUANTIZE or DEQUANTIZE. */
static int read_parameters(const struct ig_graph *g, const struct ig_node *n, struct quantised *q) {
    q->scale = n->in[1];
    q->zero = n->n_in > 2 ? n->in[2] : -1;
    q->axis = n->attrs.axis.axis;
    if (!is_scale(g, q->scale)) return 0;
    if (q->zero < 0) return 1;
    const struct ig_shape *s = &g->values[q->scale].shape, *z = &g->values[q->zero].shape;
    return ig_is_const(g, q->zero) && z->type == g->values[q->value].shape.type && ig_count(s) == ig_count(z);
}

static int is_byte(const struct ig_graph *g, int32_t v) {
    return g->values[v].shape.type == IG_U8 || g->values[v].shape.type == IG_I8;
}

static int is_one(const struct ig_graph *g, const struct quantised *q) {
    return ig_count(&g->values[q->scale].shape) == 1;
}

int quantised_read(const struct ig_graph *g, int32_t v, struct quantised *q) {
    const struct ig_node *n = edit_producer(g, v, IG_DEQUANTIZE);
    if (!n || !is_byte(g, n->in[0])) return 0;
    q->value = n->in[0];
    return read_parameters(g, n, q);
}

int quantised_read_one(const struct ig_graph *g, int32_t v, struct quantised *q) {
    return quantised_read(g, v, q) && is_one(g, q);
}

/* Element 0 of a zero, as a number. */
static int32_t zero_of(const struct ig_graph *g, const struct quantised *q) {
    return q->zero < 0 ? 0 : (int32_t)ig_as_double(g->values[q->zero].shape.type, g->values[q->zero].data, 0);
}

static float scale_of(const struct ig_graph *g, const struct quantised *q) {
    return *(const float *)g->values[q->scale].data;
}

int quantised_by_channel(const struct ig_graph *g, const struct quantised *q) {
    const struct ig_shape *s = &g->values[q->value].shape;
    const struct ig_value *zero = q->zero < 0 ? NULL : &g->values[q->zero];
    if (s->rank < 3 || q->axis != 1 || s->dims[1] < 2 || ig_count(&g->values[q->scale].shape) != s->dims[1]) return 0;
    if (zero) ig_late_fetch(g, zero->data);
    for (int32_t i = 1; zero && i < s->dims[1]; i++)
        if ((int32_t)ig_as_double(zero->shape.type, zero->data, i) != zero_of(g, q)) return 0;
    return 1;
}

int quantised_alike(const struct ig_graph *g, const struct quantised *a, const struct quantised *b) {
    return is_one(g, a) && is_one(g, b) && g->values[a->value].shape.type == g->values[b->value].shape.type &&
           zero_of(g, a) == zero_of(g, b) && !(scale_of(g, a) < scale_of(g, b)) && !(scale_of(g, a) > scale_of(g, b));
}

int32_t quantised_zero(struct ig_graph *g, const struct quantised *q) {
    struct ig_shape s = g->values[q->scale].shape;
    if (q->zero >= 0) return q->zero;
    s.type = g->values[q->value].shape.type;
    return ig_add_const(g, "zero", &s, NULL);
}

/* What float x becomes, by scale i. */
static int32_t quantised_to(const struct ig_graph *g, const struct quantised *y, float x, int64_t i) {
    int32_t low = g->values[y->value].shape.type == IG_I8 ? -128 : 0;
    double v = rint((double)(x / ((const float *)g->values[y->scale].data)[i])) + zero_of(g, y);
    return v > low ? v < low + 255 ? (int32_t)v : low + 255 : low;
}

/* Rounding keeps the order: a bound of floats is one of bytes. 0 if the node is no activation of two bounds, the same ones for all scales. */
static int read_clip(const struct ig_graph *g, const struct ig_node *n, const struct quantised *y, struct ig_act *clip) {
    const struct ig_act *a = &n->attrs.unary.act;
    int32_t least = g->values[y->value].shape.type == IG_I8 ? -128 : 0, low, high = least + 255;
    if (n->op != IG_UNARY || (a->kind != IG_RELU && a->kind != IG_CLIP)) return 0;
    if (a->kind == IG_CLIP && !(a->alpha <= a->beta)) return 0;
    low = quantised_to(g, y, a->kind == IG_CLIP ? a->alpha : 0, 0);
    if (a->kind == IG_CLIP) high = quantised_to(g, y, a->beta, 0);
    for (int64_t i = 1; a->kind == IG_CLIP && i < ig_count(&g->values[y->scale].shape); i++)
        if (quantised_to(g, y, a->alpha, i) != low || quantised_to(g, y, a->beta, i) != high) return 0;
    *clip = (struct ig_act){.kind = IG_NONE};
    if (low > least || high < least + 255) *clip = (struct ig_act){IG_CLIP, (float)low, (float)high};
    return 1;
}

static int read_end(const struct ig_graph *g, int32_t node, struct quantised_end *end) {
    const struct ig_node *n = &g->nodes[node];
    if (n->op != IG_QUANTIZE || !n->n_out || g->values[n->in[0]].shape.type != IG_F32) return 0;
    *end = (struct quantised_end){.float_value = n->in[0], .act = -1, .node = node, .y = {.value = n->out[0]}};
    if (!read_parameters(g, n, &end->y) || (!is_one(g, &end->y) && !quantised_by_channel(g, &end->y))) return 0;
    int alone = edit_sole_reader(g, end->float_value) == node;
    int32_t before = g->values[end->float_value].producer;
    if (before >= 0 && read_clip(g, &g->nodes[before], &end->y, &end->clip)) {
        end->act = before;
        end->float_value = g->nodes[before].in[0];
        alone = alone && edit_sole_reader(g, end->float_value) == before;
    }
    if (!alone) end->float_value = -1;
    return 1;
}

int quantised_end_of(const struct ig_graph *g, int32_t node, struct quantised_end *end) {
    return read_end(g, node, end) && is_one(g, &end->y);
}

/* --- what only moves --- */

/* Elements of the output are some of input 0, or the largest of some; or the float 0. */
int quantised_moves(const struct ig_node *n) {
    switch (n->op) {
    case IG_RESHAPE:
    case IG_TRANSPOSE:
    case IG_SLICE:
    case IG_COPY:
        return 1;
    case IG_UNARY:
        return n->attrs.unary.act.kind == IG_NONE;
    case IG_POOL:
        return n->attrs.pool.kind == IG_POOL_MAX && (n->n_out < 2 || n->out[1] < 0);
    case IG_RESIZE:
        return n->attrs.resize.mode == IG_NEAREST && n->attrs.resize.coord != IG_TF_CROP_AND_RESIZE;
    case IG_PAD:
        return n->attrs.pad.mode != IG_PAD_CONSTANT || n->attrs.pad.value == 0;
    default:
        return 0;
    }
}

static int leads_to_bytes(const struct ig_graph *g, int32_t v, int *left);

/* Whether node n, which reads a dequantised tensor as input k, may become an op on bytes. */
static int takes_bytes(const struct ig_graph *g, const struct ig_node *n, int k, int *left) {
    switch (n->op) {
    case IG_QUANTIZE:
    case IG_CONV:
    case IG_MATMUL:
        return k == 0;
    case IG_BINARY:
        return n->attrs.binary.kind == IG_ADD || n->attrs.binary.kind == IG_MUL;
    case IG_CONCAT:
        return leads_to_bytes(g, n->out[0], left);
    default:
        return (quantised_moves(n) || n->op == IG_UNARY || quantised_is_average(g, n)) && leads_to_bytes(g, n->out[0], left);
    }
}

/* All that read v do, as far as can be seen by `left` tensors. */
static int leads_to_bytes(const struct ig_graph *g, int32_t v, int *left) {
    int readers = 0;
    if (--*left < 0 || ig_is_output(g, v)) return 0;
    for (int i = 0; i < g->n_nodes; i++)
        for (int k = 0; k < g->nodes[i].n_in; k++) {
            if (g->nodes[i].in[k] != v) continue;
            if (!takes_bytes(g, &g->nodes[i], k, left)) return 0;
            readers++;
        }
    return readers > 0;
}

/* Node makes bytes, by x's parameters, and a DEQUANTIZE of them what it made before. */
static void make_bytes(struct ig_graph *g, int32_t node, const struct quantised *x) {
    int32_t made = g->nodes[node].out[0];
    struct ig_shape shape = g->values[made].shape;
    shape.type = g->values[x->value].shape.type;
    int32_t bytes = ig_add_value(g, g->values[made].name, &shape);
    g->nodes[node].out[0] = bytes;
    g->values[bytes].producer = node;
    struct ig_node *n = ig_add_node(g, NULL, IG_DEQUANTIZE, x->zero < 0 ? 2 : 3, 1);
    n->in[0] = bytes;
    n->in[1] = x->scale;
    if (x->zero >= 0) n->in[2] = x->zero;
    n->out[0] = made;
    n->attrs.axis.axis = x->axis;
    g->values[made].producer = g->n_nodes - 1;
}

/* A constant that is transposed, its scales with it. */
static int turn(struct ig_graph *g, int32_t node, struct quantised *w) {
    const struct ig_node *n = &g->nodes[node];
    int32_t axis = 0;
    if (n->op != IG_TRANSPOSE || !ig_is_const(g, w->value)) return 0;
    while (n->attrs.transpose.perm[axis] != w->axis && axis < g->values[w->value].shape.rank - 1) axis++;
    if (!is_one(g, w)) w->axis = axis;
    g->nodes[node].in[0] = w->value;
    make_bytes(g, node, w);
    edit_fold(g, node, NULL);
    return 1;
}

static int sink(struct ig_graph *g, int32_t node) {
    struct ig_node *n = &g->nodes[node];
    struct quantised x;
    int left = FARTHEST;
    if (!n->n_out || !n->n_in || !quantised_read(g, n->in[0], &x)) return 0;
    if (turn(g, node, &x)) return 1;
    if (!quantised_moves(n) || !is_one(g, &x) || !leads_to_bytes(g, n->out[0], &left)) return 0;
    n->in[0] = x.value;
    if (n->op == IG_PAD && n->attrs.pad.mode == IG_PAD_CONSTANT) n->attrs.pad.value = (float)zero_of(g, &x);
    make_bytes(g, node, &x);
    return 1;
}

/* Of dequantised tensors. */
static int reads_bytes(const struct ig_graph *g, const struct ig_node *n) {
    struct quantised x;
    for (int k = 0; k < n->n_in; k++)
        if (!quantised_read_one(g, n->in[k], &x)) return 0;
    return n->n_in > 0;
}

/* CONCAT of parts that have one scale. */
static int sink_concat(struct ig_graph *g, int32_t node) {
    struct ig_node *n = &g->nodes[node];
    struct quantised first, x;
    int left = FARTHEST;
    if (!n->n_out || n->op != IG_CONCAT || !reads_bytes(g, n) || !leads_to_bytes(g, n->out[0], &left)) return 0;
    quantised_read_one(g, n->in[0], &first);
    for (int k = 1; k < n->n_in; k++)
        if (!quantised_read_one(g, n->in[k], &x) || !quantised_alike(g, &x, &first)) return 0;
    for (int k = 0; k < n->n_in; k++) {
        quantised_read_one(g, n->in[k], &x);
        n->in[k] = x.value;
    }
    make_bytes(g, node, &first);
    return 1;
}

/* A QUANTIZE behind a CONCAT: one before it for every part, which meets a DEQUANTIZE there. */
static int part(struct ig_graph *g, const struct quantised_end *end) {
    const struct ig_node *concat = edit_producer(g, end->float_value, IG_CONCAT);
    if (!concat || end->act >= 0 || !reads_bytes(g, concat)) return 0;
    int32_t node = g->values[end->float_value].producer, zero = quantised_zero(g, &end->y);
    for (int k = 0; k < g->nodes[node].n_in; k++) {
        int32_t x = g->nodes[node].in[k];
        struct ig_shape shape = g->values[x].shape;
        shape.type = g->values[end->y.value].shape.type;
        int32_t y = ig_add_value(g, g->values[end->y.value].name, &shape);
        struct ig_node *n = ig_add_node(g, NULL, IG_QUANTIZE, 3, 1);
        n->in[0] = x, n->in[1] = end->y.scale, n->in[2] = zero;
        n->out[0] = y;
        g->values[y].producer = g->n_nodes - 1;
        g->nodes[node].in[k] = y;
    }
    edit_take_output(g, node, end->node);
    return 1;
}

/* A QUANTIZE behind what gives floats another shape or order: before it, where something may become an op on bytes. */
static int go_before(struct ig_graph *g, const struct quantised_end *end) {
    int32_t move = end->act < 0 && end->float_value >= 0 ? g->values[end->float_value].producer : -1, y = end->y.value;
    if (move < 0 || (g->nodes[move].op != IG_RESHAPE && g->nodes[move].op != IG_TRANSPOSE)) return 0;
    const union ig_attrs attrs = g->nodes[move].attrs;
    enum ig_op op = (enum ig_op)g->nodes[move].op;
    struct ig_shape shape = g->values[g->nodes[move].in[0]].shape;
    shape.type = g->values[y].shape.type;
    if (edit_sole_reader(g, g->nodes[move].in[0]) != move) return 0;
    int32_t in[3] = {g->nodes[move].in[0], end->y.scale, quantised_zero(g, &end->y)}, bytes = ig_add_value(g, g->values[y].name, &shape);
    edit_become(g, move, IG_QUANTIZE, 3, in);
    g->nodes[move].out[0] = bytes;
    g->values[bytes].producer = move;
    edit_become(g, end->node, op, 1, &bytes);
    g->nodes[end->node].attrs = attrs;
    return 1;
}

/* --- scales by channel --- */

/* Those of q, or what they are divided by, as a factor of images. */
static int32_t factor_of(struct ig_graph *g, const struct quantised *q, int is_inverse) {
    struct ig_shape s = {IG_F32, g->values[q->value].shape.rank, {1, 1, 1, 1, 1, 1, 1, 1}};
    const float *scale = (const float *)g->values[q->scale].data;
    s.dims[1] = g->values[q->value].shape.dims[1];
    int32_t v = ig_add_const(g, "scales", &s, NULL);
    for (int32_t i = 0; i < s.dims[1]; i++) ((float *)(uintptr_t)g->values[v].data)[i] = is_inverse ? 1 / scale[i] : scale[i];
    return v;
}

/* A QUANTIZE or DEQUANTIZE by scale 1 and a factor for each channel, where no layer has taken its scales: these have fast kernels. */
static int take_out_scales(struct ig_graph *g, int32_t node) {
    const struct ig_node *n = &g->nodes[node];
    const int is_end = n->op == IG_QUANTIZE;
    struct quantised q = {0};
    if (!is_end && n->op != IG_DEQUANTIZE) return 0;
    q.value = is_end ? n->out[0] : n->in[0];
    if (!is_byte(g, q.value) || ig_is_const(g, q.value) || g->values[is_end ? n->in[0] : n->out[0]].shape.type != IG_F32) return 0;
    if (!read_parameters(g, n, &q) || !quantised_by_channel(g, &q)) return 0;
    const struct quantised unit = quantised_unit(g, &q);
    int32_t x = n->in[0], y = n->out[0], factor = factor_of(g, &q, is_end);
    struct ig_shape shape = g->values[is_end ? x : y].shape;
    int32_t between = ig_add_value(g, g->values[y].name, &shape);
    ig_add_node(g, NULL, IG_BINARY, 2, 1);
    const int32_t last = g->n_nodes - 1, first = is_end ? last : node, second = is_end ? node : last;
    if (is_end) {
        edit_become(g, first, IG_BINARY, 2, (int32_t[]){x, factor});
        edit_become(g, second, IG_QUANTIZE, 3, (int32_t[]){between, unit.scale, unit.zero});
    } else {
        edit_become(g, first, IG_DEQUANTIZE, 3, (int32_t[]){x, unit.scale, unit.zero});
        edit_become(g, second, IG_BINARY, 2, (int32_t[]){between, factor});
    }
    g->nodes[last].attrs.binary = (struct ig_binary_attr){.kind = IG_MUL};
    g->nodes[first].out[0] = between, g->nodes[second].out[0] = y;
    g->values[between].producer = first, g->values[y].producer = second;
    return 1;
}

/* --- all --- */

/* Constants of one dim, such as a batch normalisation's, that no layer takes as bytes. */
static int is_parameter(const struct ig_graph *g, const struct ig_node *n) {
    const struct ig_shape *s = &g->values[n->out[0]].shape;
    int64_t count = ig_count(s);
    int32_t widest = 1;
    for (int i = 0; i < s->rank; i++)
        if (s->dims[i] > widest) widest = s->dims[i];
    for (int i = 0; i < g->n_nodes; i++)
        for (int k = 0; k < g->nodes[i].n_in; k++)
            if (g->nodes[i].in[k] == n->out[0] && (g->nodes[i].op == IG_CONV || g->nodes[i].op == IG_MATMUL)) return 0;
    return n->n_out == 1 && count == widest;
}

/* Weights that are floats, and a QUANTIZE of them; what affine nodes are made with. */
static int fold_constants(struct ig_graph *g, ig_eval_fn *eval) {
    int folded = 0;
    for (int i = 0; i < g->n_nodes; i++)
        if (g->nodes[i].n_out && (g->nodes[i].op == IG_QUANTIZE || is_parameter(g, &g->nodes[i]))) folded += edit_fold(g, i, eval);
    return edit_finish(g, folded);
}

/* Another QUANTIZE of the same tensor that gives the same: one is enough. */
static int unite(struct ig_graph *g, int32_t node) {
    struct quantised_end a, b;
    if (!quantised_end_of(g, node, &a) || ig_is_output(g, a.y.value)) return 0;
    for (int i = 0; i < node; i++) {
        if (g->nodes[i].op != IG_QUANTIZE || !g->nodes[i].n_in || g->nodes[i].in[0] != g->nodes[node].in[0]) continue;
        if (!quantised_end_of(g, i, &b) || !quantised_alike(g, &a.y, &b.y)) continue;
        ig_replace_uses(g, a.y.value, b.y.value);
        edit_kill(&g->nodes[node]);
        return 1;
    }
    return 0;
}

static int rewrite(struct ig_graph *g, int32_t node, ig_eval_fn *eval) {
    struct quantised_end end;
    if (g->nodes[node].op == IG_QLINEAR_MATMUL) return quantised_matmul(g, node);
    if (g->nodes[node].op == IG_LOOKUP) return quantised_compose(g, node);
    if (g->nodes[node].op == IG_QLINEAR_BINARY) return quantised_lookup(g, node, eval);
    if (g->nodes[node].op == IG_CONV) return quantised_fold_affine(g, node);
    if (g->nodes[node].op != IG_QUANTIZE) return sink(g, node) || sink_concat(g, node);
    if (unite(g, node) || quantised_lookup(g, node, eval)) return 1;
    if (!read_end(g, node, &end)) return 0;
    if (!is_one(g, &end.y)) return quantised_convolution(g, &end);
    return part(g, &end) || go_before(g, &end) || quantised_layer(g, &end);
}

static int concerns(const struct ig_graph *g) {
    for (int i = 0; i < g->n_nodes; i++)
        if (g->nodes[i].op == IG_DEQUANTIZE || g->nodes[i].op == IG_QLINEAR_MATMUL) return 1;
    return 0;
}

/* Layers of bytes whose results nothing takes as bytes; then the scales that no layer has taken. */
static int open_layers(struct ig_graph *g) {
    int rewrites = 0;
    for (int i = 0, n = g->n_nodes; i < n; i++)
        if (g->nodes[i].n_out) rewrites += quantised_open_layer(g, i);
    rewrites = edit_finish(g, rewrites);
    int more = 0;
    for (int i = 0, n = g->n_nodes; i < n; i++)
        if (g->nodes[i].n_out) more += take_out_scales(g, i);
    return rewrites + edit_finish(g, more);
}

int ig_pass_quantised(struct ig_graph *g, ig_eval_fn *eval) {
    const int is_due = !g->channels_last && concerns(g);
    int rewrites = 0, more = is_due;
    if (more) rewrites = fold_constants(g, eval);
    while (more) {
        more = 0;
        for (int i = 0, n = g->n_nodes; i < n; i++)
            if (g->nodes[i].n_out) more += rewrite(g, i, eval);
        rewrites += edit_finish(g, more);
    }
    return is_due ? rewrites + open_layers(g) : rewrites;
}
