/* What is linear in a quantised tensor, channel by channel, such as a batch normalisation that no convolution took: one op on bytes. */
#include <math.h>

#include "graph/late.h"
#include "graph/passes/affine.h"
#include "graph/passes/edit.h"
#include "graph/passes/quantised.h"

/* All from the dequantised tensor *x to float value v, nothing of which is read elsewhere: 1, and affine_free is due. */
static int read_chain(const struct ig_graph *g, int32_t v, struct affine *all, struct quantised *x) {
    int links = 0;
    for (; !links || !quantised_read_one(g, v, x); links++) {
        struct affine a = {.channels = 0};
        int32_t node = g->values[v].producer;
        int reads = node >= 0 && (!links || edit_sole_reader(g, v) >= 0) && affine_read(g, &g->nodes[node], &a);
        if (reads && links) affine_append(&a, all);
        if (links) affine_free(all);
        if (!reads) return 0;
        *all = a;
        v = a.x;
    }
    return 1;
}

static double number(const struct ig_graph *g, int32_t v) {
    ig_late_fetch(g, g->values[v].data);
    return ig_as_double(g->values[v].shape.type, g->values[v].data, 0);
}

/* Scales and offsets from bytes to bytes, two constants: 1 if they are finite. */
static int add_constants(struct ig_graph *g, const struct affine *a, const struct quantised *x, const struct quantised *y, int32_t *in) {
    const struct ig_shape shape = {.type = IG_F32, .rank = 1, .dims = {a->channels, 1, 1, 1, 1, 1, 1, 1}};
    double scale = number(g, x->scale), zero = x->zero < 0 ? 0 : number(g, x->zero), y_scale = number(g, y->scale);
    in[0] = ig_add_const(g, "scale", &shape, NULL);
    in[1] = ig_add_const(g, "offset", &shape, NULL);
    float *scales = (float *)(uintptr_t)g->values[in[0]].data, *offsets = (float *)(uintptr_t)g->values[in[1]].data;
    for (int32_t c = 0; c < a->channels; c++) {
        double s = scale * a->scale[c] / y_scale;
        scales[c] = (float)s;
        offsets[c] = (float)(a->offset[c] / y_scale - zero * s);
        if (!isfinite(scales[c]) || !isfinite(offsets[c])) return 0;
    }
    return 1;
}

/* --- behind a convolution --- */

/* Scales and zero points of w, one for each output, with the factors of `a` in the scales: a DEQUANTIZE of w, or -1. */
static int32_t scaled_weights(struct ig_graph *g, const struct quantised *w, const struct affine *a) {
    struct ig_shape shape = {IG_F32, 1, {a->channels, 1, 1, 1, 1, 1, 1, 1}}, made = g->values[w->value].shape;
    int32_t in[3] = {w->value, ig_add_const(g, "scale", &shape, NULL), -1}, many = ig_count(&g->values[w->scale].shape) > 1;
    for (int32_t c = 0; c < a->channels; c++) {
        float s = (float)(ig_as_double(IG_F32, g->values[w->scale].data, many ? c : 0) * a->scale[c]);
        if (!(s > 1e-18f && s < 1e18f)) return -1;
        ((float *)(uintptr_t)g->values[in[1]].data)[c] = s;
    }
    shape.type = made.type;
    in[2] = ig_add_const(g, "zero", &shape, NULL);
    for (int32_t c = 0; w->zero >= 0 && c < a->channels; c++)
        ((uint8_t *)(uintptr_t)g->values[in[2]].data)[c] = ((const uint8_t *)g->values[w->zero].data)[many ? c : 0];
    made.type = IG_F32;
    int32_t y = edit_append(g, "weights", IG_DEQUANTIZE, w->value, &made);
    edit_become(g, g->n_nodes - 1, IG_DEQUANTIZE, 3, in);
    return y;
}

/* The bias that is a constant of floats, or none, by `a`. */
static int32_t moved_bias(struct ig_graph *g, int32_t bias, const struct affine *a) {
    const struct ig_shape shape = {IG_F32, 1, {a->channels, 1, 1, 1, 1, 1, 1, 1}};
    int32_t v = ig_add_const(g, "bias", &shape, NULL);
    for (int32_t c = 0; c < a->channels; c++)
        ((float *)(uintptr_t)g->values[v].data)[c] = (float)((bias < 0 ? 0 : (double)edit_f32(g, bias)[c]) * a->scale[c] + a->offset[c]);
    return v;
}

static int fold(struct ig_graph *g, int32_t node, int32_t reader, const struct quantised *w, const struct affine *a) {
    const struct ig_conv conv = g->nodes[node].attrs.conv;
    const int32_t bias = g->nodes[node].n_in > 2 ? g->nodes[node].in[2] : -1;
    if (bias >= 0 && (!edit_f32(g, bias) || ig_count(&g->values[bias].shape) != a->channels)) return 0;
    int32_t weights = scaled_weights(g, w, a);
    if (weights < 0) return 0;
    int32_t in[3] = {g->nodes[node].in[0], weights, moved_bias(g, bias, a)};
    edit_become(g, node, IG_CONV, 3, in);
    g->nodes[node].attrs.conv = conv;
    edit_take_output(g, node, reader);
    return 1;
}

int quantised_fold_affine(struct ig_graph *g, int32_t node) {
    const struct ig_node *n = &g->nodes[node];
    struct quantised x, w;
    struct affine a = {.channels = 0};
    if (n->op != IG_CONV || n->attrs.conv.act.kind != IG_NONE || n->n_in > 3 || !quantised_read(g, n->in[0], &x)) return 0;
    if (!quantised_read(g, n->in[1], &w) || !ig_is_const(g, w.value)) return 0;
    const int32_t oc = g->values[w.value].shape.dims[0], reader = edit_sole_reader(g, n->out[0]);
    const int64_t scales = ig_count(&g->values[w.scale].shape);
    if (reader < 0 || (scales > 1 && (w.axis || scales != oc))) return 0;
    if (g->nodes[reader].op == IG_BINARY && g->nodes[reader].attrs.binary.act.kind != IG_NONE) return 0;
    if (!affine_read(g, &g->nodes[reader], &a)) return 0;
    int done = a.x == n->out[0] && a.channels == oc && fold(g, node, reader, &w, &a);
    affine_free(&a);
    return done;
}

/* --- of bytes --- */

int quantised_affine(struct ig_graph *g, const struct quantised_end *end) {
    int32_t node = g->values[end->float_value].producer, in[4];
    struct quantised x;
    struct affine a;
    if (!read_chain(g, end->float_value, &a, &x)) return 0;
    int is_finite = add_constants(g, &a, &x, &end->y, in + 1);
    affine_free(&a);
    if (!is_finite) return 0;
    in[0] = x.value;
    in[3] = quantised_zero(g, &end->y);
    edit_become(g, node, IG_QLINEAR_AFFINE, 4, in);
    g->nodes[node].attrs.unary.act = end->clip;
    if (end->act >= 0) edit_kill(&g->nodes[end->act]);
    edit_take_output(g, node, end->node);
    return 1;
}
