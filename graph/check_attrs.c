/* Attributes that must fit their node's tensors: ranges of axes, windows, permutations, kinds. */
#include "graph/graph.h"

static int rank_in(const struct ig_graph *g, const struct ig_node *n, int k) {
    return g->values[n->in[k]].shape.rank;
}

static int within(int32_t x, int32_t low, int32_t end) {
    return x >= low && x < end;
}

static const char *act_fault(const struct ig_act *a, int32_t end) {
    return within(a->kind, 0, end) ? NULL : "activation kind out of range";
}

static const char *window_fault(const struct ig_window *w, int may_crop) {
    const int32_t sizes[] = {w->kd, w->kh, w->kw, w->sd,   w->sh,   w->sw,
                             w->dd, w->dh, w->dw, w->in_d, w->out_d};
    const int32_t pads[] = {w->front, w->top, w->left, w->back, w->bottom, w->right};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        if (sizes[i] < 1) return "window extent, stride, dilation or depth below 1";
    for (size_t i = 0; i < sizeof pads / sizeof *pads; i++)
        if (pads[i] < 0 && !may_crop) return "negative padding";
    return NULL;
}

static const char *conv_fault(const struct ig_graph *g, const struct ig_node *n) {
    const struct ig_conv *c = &n->attrs.conv;
    const char *fault = window_fault(&c->w, n->op == IG_DECONV);
    int weight = n->op == IG_QLINEAR_CONV ? 3 : 1;
    const struct ig_shape *x = &g->values[n->in[0]].shape, *w = &g->values[n->in[weight]].shape;
    if (fault) return fault;
    if (!within(x->rank, 3, 6) || w->rank != x->rank)
        return "image and weights must have the same rank, 3 to 5";
    int32_t channels = x->dims[g->channels_last ? x->rank - 1 : 1];
    int32_t taken = n->op == IG_DECONV ? w->dims[0] : w->dims[1];
    if (c->groups < 1 || channels % c->groups) return "groups do not divide the channels";
    if (taken * (n->op == IG_DECONV ? 1 : c->groups) != channels)
        return "weights do not fit the image's channels";
    if (n->op != IG_DECONV && w->dims[0] % c->groups) return "groups do not divide the output channels";
    if (w->dims[w->rank - 1] != c->w.kw || (w->rank > 3 && w->dims[w->rank - 2] != c->w.kh) ||
        (w->rank > 4 && w->dims[2] != c->w.kd))
        return "weights do not fit the window";
    if (n->op == IG_QLINEAR_CONV && c->act.kind != IG_NONE && (c->act.kind != IG_CLIP || g->values[n->out[0]].shape.type == IG_F32))
        return "an activation other than clip, or of floats";
    return act_fault(&c->act, IG_FUSABLE);
}

static const char *fc_fault(const struct ig_graph *g, const struct ig_node *n) {
    const struct ig_shape *x = &g->values[n->in[0]].shape, *w = &g->values[n->in[1]].shape;
    const struct ig_shape *y = &g->values[n->out[0]].shape;
    if (x->rank != 2 || w->rank != 2 || y->rank != 2) return "fc needs rank 2";
    if (x->dims[1] != w->dims[1] || y->dims[1] != w->dims[0] || y->dims[0] != x->dims[0])
        return "shapes do not fit";
    return act_fault(&n->attrs.fc.act, IG_FUSABLE);
}

static const char *transpose_fault(const struct ig_graph *g, const struct ig_node *n) {
    int rank = rank_in(g, n, 0);
    const struct ig_shape *x = &g->values[n->in[0]].shape, *y = &g->values[n->out[0]].shape;
    uint32_t seen = 0;
    if (y->rank != rank) return "the rank changes";
    for (int i = 0; i < rank; i++) {
        int32_t p = n->attrs.transpose.perm[i];
        if (!within(p, 0, rank)) return "perm out of range";
        if (x->dims[p] != y->dims[i]) return "perm does not fit the shapes";
        seen |= 1u << p;
    }
    return seen == (1u << rank) - 1 ? NULL : "perm is no permutation";
}

static const char *slice_fault(const struct ig_graph *g, const struct ig_node *n) {
    const struct ig_shape *x = &g->values[n->in[0]].shape, *y = &g->values[n->out[0]].shape;
    if (x->rank != y->rank) return "the rank changes";
    for (int i = 0; i < x->rank; i++) {
        int64_t first = n->attrs.slice.start[i], step = n->attrs.slice.step[i];
        int64_t last = first + step * (y->dims[i] - 1);
        if (first < 0 || first >= x->dims[i] || last < 0 || last >= x->dims[i])
            return "slice outside the tensor";
    }
    return NULL;
}

static const char *pad_fault(const struct ig_graph *g, const struct ig_node *n) {
    const struct ig_shape *x = &g->values[n->in[0]].shape, *y = &g->values[n->out[0]].shape;
    const struct ig_pad *p = &n->attrs.pad;
    if (!within(p->mode, 0, IG_PAD_WRAP + 1)) return "pad mode out of range";
    if (x->rank != y->rank) return "the rank changes";
    for (int i = 0; i < x->rank; i++)
        if ((int64_t)x->dims[i] + p->begin[i] + p->end[i] != y->dims[i]) return "pads do not fit the shapes";
    return NULL;
}

static const char *concat_fault(const struct ig_graph *g, const struct ig_node *n) {
    const struct ig_shape *y = &g->values[n->out[0]].shape;
    int32_t axis = n->attrs.axis.axis;
    int64_t sum = 0;
    if (!within(axis, 0, y->rank)) return "axis out of range";
    for (int k = 0; k < n->n_in; k++) {
        const struct ig_shape *x = &g->values[n->in[k]].shape;
        if (x->rank != y->rank || x->type != y->type) return "inputs of different rank or type";
        for (int i = 0; i < y->rank; i++)
            if (i != axis && x->dims[i] != y->dims[i]) return "inputs of different shape";
        sum += x->dims[axis];
    }
    return sum == y->dims[axis] ? NULL : "inputs do not add up to the output";
}

static const char *broadcast_fault(const struct ig_graph *g, const struct ig_node *n) {
    const struct ig_shape *y = &g->values[n->out[0]].shape;
    for (int k = 0; k < n->n_in; k++) {
        const struct ig_shape *x = &g->values[n->in[k]].shape;
        if (x->rank > y->rank) return "an input has a higher rank than the output";
        for (int i = 1; i <= x->rank; i++)
            if (x->dims[x->rank - i] != 1 && x->dims[x->rank - i] != y->dims[y->rank - i])
                return "an input does not broadcast to the output";
    }
    return NULL;
}

static const char *norm_fault(const struct ig_norm *a, int rank) {
    if (!within(a->kind, 0, IG_NORM_MVN + 1)) return "norm kind out of range";
    if (a->kind <= IG_NORM_LP && !within(a->axis, 0, rank)) return "axis out of range";
    return a->kind == IG_NORM_GROUP && a->groups < 1 ? "groups below 1" : NULL;
}

/* Optional input k is absent, or of these dims. */
static int is_of(const struct ig_graph *g, const struct ig_node *n, int k, int32_t rank, const int32_t *dims) {
    if (k >= n->n_in || n->in[k] < 0) return 1;
    const struct ig_shape *s = &g->values[n->in[k]].shape;
    if (s->type != IG_F32 || s->rank != rank) return 0;
    for (int i = 0; i < rank; i++)
        if (s->dims[i] != dims[i]) return 0;
    return 1;
}

static const char *recurrent_fault(const struct ig_graph *g, const struct ig_node *n) {
    const struct ig_recurrent *a = &n->attrs.recurrent;
    const struct ig_shape *x = &g->values[n->in[0]].shape, *r = &g->values[n->in[1]].shape;
    if (!within(a->kind, 0, IG_LSTM + 1)) return "kind out of range";
    if (n->out[0] < 0) return "output 0 is missing";
    if (x->rank != 3 || r->rank != 3 || r->dims[1] != ig_gates_of(a) * (int64_t)r->dims[2] || x->dims[2] != (int64_t)r->dims[0] * r->dims[1])
        return "gates do not fit the recurrent weights";
    const int32_t d = r->dims[0], hidden = r->dims[2], state[] = {d, x->dims[1], hidden}, own[] = {d, hidden}, peepholes[] = {d, 3 * hidden};
    if (!within(d, 1, IG_DIRECTIONS + 1) || !within(a->reverse, 0, 1 << d)) return "directions out of range";
    if (!is_of(g, n, 2, 2, own) || !is_of(g, n, 3, 3, state) || !is_of(g, n, 4, 3, state) || !is_of(g, n, 5, 2, peepholes))
        return "a bias, state or peepholes that do not fit";
    if (n->n_in > 2 && n->in[2] >= 0 && (a->kind != IG_GRU || !a->reset_after)) return "a bias that nothing adds";
    const char *fault = act_fault(&a->f, IG_FUSABLE);
    if (!fault) fault = act_fault(&a->g, IG_FUSABLE);
    return fault ? fault : act_fault(&a->u, IG_FUSABLE);
}

static const char *binary_fault(const struct ig_graph *g, const struct ig_node *n) {
    const char *fault = act_fault(&n->attrs.binary.act, IG_FUSABLE);
    if (!within(n->attrs.binary.kind, 0, IG_BINARIES)) return "kind out of range";
    return fault ? fault : broadcast_fault(g, n);
}

/* An activation of bytes. */
static const char *clip_fault(const struct ig_act *a) {
    return a->kind == IG_NONE || a->kind == IG_CLIP ? NULL : "an activation other than clip";
}

/* Inputs 0 and 3 are like the output, or input 3 is a pixel of it; the others are one number each. */
static const char *qlinear_binary_fault(const struct ig_graph *g, const struct ig_node *n) {
    const struct ig_binary_attr *a = &n->attrs.binary;
    const struct ig_shape *y = &g->values[n->out[0]].shape;
    if (a->kind != IG_ADD && a->kind != IG_MUL) return "neither a sum nor a product";
    if (clip_fault(&a->act)) return clip_fault(&a->act);
    for (int k = 0; k < n->n_in; k++) {
        const struct ig_shape *x = &g->values[n->in[k]].shape;
        int is_data = k == 0 || k == 3;
        if (!is_data && ig_count(x) != 1) return "a parameter that is not one number";
        if (is_data && x->rank != y->rank) return "the rank changes";
        if (k == 3 && ig_is_pixel(g, x, y)) continue;
        for (int i = 0; is_data && i < y->rank; i++)
            if (x->dims[i] != y->dims[i]) return "the shape changes";
    }
    return NULL;
}

static const char *pool_fault(const struct ig_graph *g, const struct ig_node *n) {
    const struct ig_pool *a = &n->attrs.pool;
    if (n->n_in != 1 && n->n_in != 5) return "neither one input nor five";
    if (n->n_in == 5 && a->kind != IG_POOL_AVERAGE) return "scales of what is no average";
    for (int k = 1; k < n->n_in; k++)
        if (n->in[k] < 0 || ig_count(&g->values[n->in[k]].shape) != 1) return "a parameter that is not one number";
    return window_fault(&a->w, 0);
}

static const char *same_shape_fault(const struct ig_graph *g, const struct ig_node *n) {
    const struct ig_shape *x = &g->values[n->in[0]].shape, *y = &g->values[n->out[0]].shape;
    if (x->rank != y->rank) return "the rank changes";
    for (int i = 0; i < x->rank; i++)
        if (x->dims[i] != y->dims[i]) return "the shape changes";
    return n->op == IG_UNARY ? act_fault(&n->attrs.unary.act, IG_UNARIES) : NULL;
}

static const char *qlinear_affine_fault(const struct ig_graph *g, const struct ig_node *n) {
    const struct ig_shape *y = &g->values[n->out[0]].shape;
    for (int k = 1; k < 3; k++) {
        const struct ig_shape *s = &g->values[n->in[k]].shape;
        if (s->rank != 1 || !y->rank || s->dims[0] != y->dims[ig_channel_dim(g, y)]) return "not one scale and offset per channel";
    }
    if (ig_count(&g->values[n->in[3]].shape) != 1) return "a zero point that is not one number";
    return clip_fault(&n->attrs.unary.act) ? clip_fault(&n->attrs.unary.act) : same_shape_fault(g, n);
}

static const char *lookup_fault(const struct ig_graph *g, const struct ig_node *n) {
    const struct ig_shape *x = &g->values[n->in[0]].shape, *table = &g->values[n->in[1]].shape;
    if (x->type != IG_U8 && x->type != IG_I8) return "the input is not of bytes";
    if (table->type != IG_U8 && table->type != IG_I8) return "the table is not of bytes";
    if (table->type != g->values[n->out[0]].shape.type) return "the table's type is not the output's";
    if (table->rank != 1 || table->dims[0] != 256) return "a table that does not have 256 entries";
    return same_shape_fault(g, n);
}

static const char *extremes_fault(const struct ig_graph *g, const struct ig_node *n) {
    const struct ig_shape *x = &g->values[n->in[0]].shape, *y = &g->values[n->out[0]].shape;
    if (x->type != IG_F32 || y->type != IG_F32) return "a type other than f32";
    return y->rank != 2 || y->dims[1] != 2 ? "the output is not of pairs" : NULL;
}

static const char *reshape_fault(const struct ig_graph *g, const struct ig_node *n) {
    const struct ig_shape *x = &g->values[n->in[0]].shape, *y = &g->values[n->out[0]].shape;
    if (x->type != y->type) return "the type changes";
    return ig_count(x) == ig_count(y) ? NULL : "the number of elements changes";
}

static int64_t count_in(const struct ig_graph *g, const struct ig_node *n, int k) {
    return k < n->n_in && n->in[k] >= 0 ? ig_count(&g->values[n->in[k]].shape) : 0;
}

/* Of what may turn sums into floats; `act` follows. */
static const char *scales_fault(const struct ig_graph *g, const struct ig_node *n, const struct ig_act *act) {
    const struct ig_shape *y = &g->values[n->out[0]].shape;
    const int64_t channels = y->rank ? y->dims[n->op == IG_CONV_INTEGER ? ig_channel_dim(g, y) : y->rank - 1] : 1;
    const int64_t x_scale = count_in(g, n, 4), w_scale = count_in(g, n, 5), bias = count_in(g, n, 6);
    for (int k = 4; k < n->n_in; k++)
        if (n->in[k] >= 0 && g->values[n->in[k]].shape.type != IG_F32) return "a scale or bias that is not f32";
    if (y->type != (x_scale ? IG_F32 : IG_I32)) return "the output is neither sums nor scaled ones";
    if (!x_scale && (w_scale || bias || act->kind != IG_NONE)) return "a scale, a bias or an activation of sums";
    if (x_scale > 1) return "a scale of the input that is not one number";
    if (w_scale > 1 && w_scale != channels) return "neither one scale of the weights nor one per channel";
    if (bias && bias != channels) return "not one bias per channel";
    return act_fault(act, IG_FUSABLE);
}

static const char *conv_integer_fault(const struct ig_graph *g, const struct ig_node *n) {
    const char *fault = conv_fault(g, n);
    return fault ? fault : scales_fault(g, n, &n->attrs.conv.act);
}

static const char *fault(const struct ig_graph *g, const struct ig_node *n) {
    switch (n->op) {
    case IG_CONV:
    case IG_DECONV:
    case IG_QLINEAR_CONV:
        return conv_fault(g, n);
    case IG_CONV_INTEGER:
        return conv_integer_fault(g, n);
    case IG_MATMUL_INTEGER:
        return scales_fault(g, n, &n->attrs.fc.act);
    case IG_POOL:
        return pool_fault(g, n);
    case IG_MAX_UNPOOL:
        return window_fault(&n->attrs.pool.w, 1);
    case IG_DEFORM_CONV:
        return window_fault(&n->attrs.deform.w, 0);
    case IG_FC:
        return fc_fault(g, n);
    case IG_UNARY:
    case IG_CAST:
    case IG_COPY:
        return same_shape_fault(g, n);
    case IG_BINARY:
        return binary_fault(g, n);
    case IG_QLINEAR_BINARY:
        return qlinear_binary_fault(g, n);
    case IG_QLINEAR_AFFINE:
        return qlinear_affine_fault(g, n);
    case IG_LOOKUP:
        return lookup_fault(g, n);
    case IG_EXTREMES:
        return extremes_fault(g, n);
    case IG_WHERE:
    case IG_EXPAND:
        return broadcast_fault(g, n);
    case IG_RESHAPE:
        return reshape_fault(g, n);
    case IG_TRANSPOSE:
        return transpose_fault(g, n);
    case IG_SLICE:
        return slice_fault(g, n);
    case IG_PAD:
        return pad_fault(g, n);
    case IG_CONCAT:
        return concat_fault(g, n);
    case IG_SOFTMAX:
    case IG_GATHER:
    case IG_GATHER_ELEMENTS:
    case IG_SCATTER_ELEMENTS:
        return within(n->attrs.axis.axis, 0, rank_in(g, n, 0)) ? NULL : "axis out of range";
    case IG_ARG:
        return within(n->attrs.arg.axis, 0, rank_in(g, n, 0)) ? NULL : "axis out of range";
    case IG_CUMSUM:
        return within(n->attrs.cumsum.axis, 0, rank_in(g, n, 0)) ? NULL : "axis out of range";
    case IG_TOPK:
        return within(n->attrs.topk.axis, 0, rank_in(g, n, 0)) ? NULL : "axis out of range";
    case IG_RECURRENT:
        return recurrent_fault(g, n);
    case IG_NORM:
        return norm_fault(&n->attrs.norm, rank_in(g, n, 0));
    default:
        return NULL;
    }
}

int ig_check_attrs(const struct ig_graph *g, const struct ig_node *n, char *err, size_t err_bytes) {
    const char *what = fault(g, n);
    if (!what) return 0;
    snprintf(err, err_bytes, "node '%s' (%s): %s", n->name, ig_op_info((enum ig_op)n->op)->name, what);
    return -1;
}
