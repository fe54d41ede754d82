/* QUANTIZE and DEQUANTIZE around the tensors that quantise.c chose, by their ranges; weights in 8 bits, a scale for each output. */
#include <math.h>

#include "graph/late.h"
#include "graph/passes/edit.h"
#include "graph/passes/quantised.h"

static int32_t add_number(struct ig_graph *g, const char *name, int32_t type, const void *x) {
    const struct ig_shape one = {type, 0, {1, 1, 1, 1, 1, 1, 1, 1}};
    return ig_add_const(g, name, &one, x);
}

static int32_t add_op(struct ig_graph *g, enum ig_op op, int32_t x, int32_t scale, int32_t zero, int32_t type) {
    struct ig_shape shape = g->values[x].shape;
    shape.type = type;
    int32_t y = ig_add_value(g, g->values[x].name, &shape);
    struct ig_node *n = ig_add_node(g, NULL, op, 3, 1);
    n->in[0] = x, n->in[1] = scale, n->in[2] = zero;
    n->out[0] = y;
    g->values[y].producer = g->n_nodes - 1;
    return y;
}

struct range { /* with 0 */
    float low, high;
};

static float span(const struct ig_quantised_tensor *t) {
    return fmaxf(t->high, 0) - fminf(t->low, 0);
}

/* Of the tensors that t is to share its scale with, and of t; t's own where it is so much smaller that many of its bits would be lost. */
static struct range shared(const struct ig_quantised_tensor *tensors, int32_t n, const struct ig_quantised_tensor *t) {
    const float least = 0.25f; /* of the largest: two bits */
    struct range r = {fminf(t->low, 0), fmaxf(t->high, 0)};
    float most = 0;
    for (int32_t i = 0; i < n; i++)
        if (tensors[i].like == t->like) most = fmaxf(most, span(&tensors[i]));
    if (span(t) < least * most) return r;
    for (int32_t i = 0; i < n; i++) {
        if (tensors[i].like != t->like || span(&tensors[i]) < least * most) continue;
        r.low = fminf(r.low, tensors[i].low);
        r.high = fmaxf(r.high, tensors[i].high);
    }
    return r;
}

/* There and back: u8 of that range, in which 0 is an exact number. */
static void put_tensor(struct ig_graph *g, int32_t v, struct range r) {
    float scale = (float)(((double)r.high - r.low) / 255);
    if (!(scale > 0)) scale = 1.0f / 255; /* nothing is known of it; 0 is exact by any */
    scale = fmaxf(scale, 1e-17f);
    const uint8_t zero = (uint8_t)fminf(fmaxf(rintf(-r.low / scale), 0), 255);
    int32_t s = add_number(g, "scale", IG_F32, &scale), z = add_number(g, "zero", IG_U8, &zero);
    int32_t bytes = add_op(g, IG_QUANTIZE, v, s, z, IG_U8), node = g->n_nodes - 1;
    int32_t back = add_op(g, IG_DEQUANTIZE, bytes, s, z, IG_F32);
    ig_replace_uses(g, v, back);
    g->nodes[node].in[0] = v;
}

struct slices { /* of weights, one for each output: element j of slice i is at i * step + j / run * jump + j % run */
    int64_t n, elements, step, run, jump;
    int32_t axis;
};

static struct slices slices_of(const struct ig_graph *g, const struct ig_node *n) {
    const struct ig_shape *s = &g->values[n->in[1]].shape;
    int64_t rest = ig_count(s) / s->dims[0];
    if (n->op == IG_CONV || n->attrs.matmul.trans_b) return (struct slices){s->dims[0], rest, rest, rest, 0, 0};
    return (struct slices){s->dims[1], s->dims[0], 1, 1, s->dims[1], 1};
}

/* A layer's. Where it is large beside the weights, as in a channel that has none, it would be no 31-bit multiple of both scales. */
struct bias {
    const float *value; /* NULL: none */
    int64_t n;          /* 1, or one for each output */
    float x_scale;      /* of the bytes that the layer reads */
};

static struct bias bias_of(const struct ig_graph *g, const struct ig_node *n) {
    struct bias b = {.x_scale = 1};
    int32_t reader = n->op == IG_MATMUL ? edit_sole_reader(g, n->out[0]) : -1, x = n->in[0];
    int32_t v = n->op == IG_CONV && n->n_in > 2 ? n->in[2] : -1;
    const struct ig_node *add = reader < 0 ? NULL : &g->nodes[reader];
    if (add && add->op == IG_BINARY && add->attrs.binary.kind == IG_ADD) v = add->in[ig_is_const(g, add->in[0]) ? 0 : 1];
    while (g->values[x].producer >= 0 && !edit_producer(g, x, IG_DEQUANTIZE)) x = g->nodes[g->values[x].producer].in[0];
    if (v < 0 || !edit_f32(g, v) || g->values[x].producer < 0) return b;
    b.value = edit_f32(g, v);
    b.n = ig_count(&g->values[v].shape);
    b.x_scale = *edit_f32(g, edit_producer(g, x, IG_DEQUANTIZE)->in[1]);
    ig_late_fetch(g, b.value);
    return b;
}

/* The least scale of weights i by which the bias is a number of 29 bits. */
static float least_scale(const struct bias *b, int64_t i, const struct slices *s) {
    const float most = 1 << 28, least = 1e-12f;
    if (!b->value || (b->n != 1 && b->n != s->n)) return least;
    return fmaxf(fabsf(b->value[b->n > 1 ? i : 0]) / b->x_scale / most, least);
}

static void put_slice(const float *w, int8_t *to, float least, float *scale, const struct slices *s, int64_t i) {
    float most = 0;
    for (int64_t j = 0; j < s->elements; j++) most = fmaxf(most, fabsf(w[i * s->step + j / s->run * s->jump + j % s->run]));
    *scale = fmaxf(most / 127, least);
    for (int64_t j = 0; j < s->elements; j++) {
        int64_t at = i * s->step + j / s->run * s->jump + j % s->run;
        to[at] = (int8_t)fminf(fmaxf(rintf(w[at] / *scale), -127), 127);
    }
}

static void put_weights(struct ig_graph *g, int32_t node) {
    const struct slices s = slices_of(g, &g->nodes[node]);
    const struct bias bias = bias_of(g, &g->nodes[node]);
    const int32_t old = g->nodes[node].in[1];
    struct ig_shape shape = g->values[old].shape, each = {IG_F32, 1, {(int32_t)s.n, 1, 1, 1, 1, 1, 1, 1}};
    shape.type = IG_I8;
    int32_t bytes = ig_add_const(g, g->values[old].name, &shape, NULL), scales = ig_add_const(g, "scale", &each, NULL);
    each.type = IG_I8;
    int32_t zeros = ig_add_const(g, "zero", &each, NULL);
    ig_late_fetch(g, g->values[old].data);
    int8_t *to = (int8_t *)(uintptr_t)g->values[bytes].data;
    float *scale = (float *)(uintptr_t)g->values[scales].data;
    for (int64_t i = 0; i < s.n; i++) put_slice(g->values[old].data, to, least_scale(&bias, i, &s), scale + i, &s, i);
    int32_t w = add_op(g, IG_DEQUANTIZE, bytes, scales, zeros, IG_F32);
    edit_last(g)->attrs.axis.axis = s.axis;
    g->nodes[node].in[1] = w;
}

void ig_quantise_put(struct ig_graph *g, const struct ig_quantised_tensor *tensors, int32_t n) {
    const int32_t nodes = g->n_nodes;
    for (int32_t i = 0; i < n; i++) put_tensor(g, tensors[i].value, shared(tensors, n, &tensors[i]));
    for (int32_t i = 0; i < nodes; i++)
        if (g->nodes[i].n_out && quantise_is_layer(g, &g->nodes[i])) put_weights(g, i);
    edit_finish(g, 1);
}
