/*
 * Several nodes that are one UNARY. Along a chain: max(x, 0) -> relu, clip of clip -> clip, clip(x + 3, 0,
 * 6)/6 -> hard sigmoid. Around a product x f(x): swish, hard swish, mish, gelu and its form by tanh. A product that is c times
 * such a function becomes the function and an affine node, which the fold_affine pass merges with what
 * follows. Powers are what they are else: products, roots.
 */
#include <math.h>
#include <string.h>

#include "graph/passes/edit.h"
#include "graph/passes/unary.h"

enum { LONGEST = 4 }; /* nodes of f */

struct chain { /* f(x) = act[n-1](... act[0](x)) */
    struct ig_act act[LONGEST];
    int n;
};

static int is(const struct ig_act *a, int32_t kind, double alpha, double beta) {
    return a->kind == kind && unary_near(a->alpha, alpha) && unary_near(a->beta, beta);
}

/* Reads f where v = f(root) through nodes that nobody else reads; 0 if v is no such thing. */
static int read_chain(const struct ig_graph *g, int32_t v, int32_t root, struct chain *f) {
    struct ig_act found[LONGEST];
    f->n = 0;
    while (v != root) {
        int32_t node = g->values[v].producer, x;
        if (f->n == LONGEST || node < 0 || edit_sole_reader(g, v) < 0) return 0;
        if (!unary_read(g, &g->nodes[node], &found[f->n], &x)) return 0;
        f->n++;
        v = x;
    }
    for (int i = 0; i < f->n; i++)
        f->act[i] = found[f->n - 1 - i];
    return f->n > 0;
}

static double rounded(double x, int bits) {
    int exponent;
    double fraction = frexp(x, &exponent);
    return ldexp(rint(ldexp(fraction, bits)), exponent - bits);
}

/* That constant or one over its reciprocal, as files in single and half precision or bfloat16 have it. */
static int is_constant(double v, double exact) {
    static const int bits[] = {24, 11, 8};
    for (size_t i = 0; i < sizeof bits / sizeof *bits; i++)
        if (unary_near(v, rounded(exact, bits[i])) || unary_near(v, 1 / rounded(1 / exact, bits[i]))) return 1;
    return 0;
}

/* x f(x) as factor * act(x); 0 if it is none that we know. */
static int product_of(const struct chain *f, struct ig_act *act, double *factor) {
    const struct ig_act *a = f->act, *last = &a[f->n - 1];
    *factor = 1;
    *act = (struct ig_act){.kind = IG_NONE};
    if (f->n == 1 && a->kind == IG_SIGMOID) {
        *act = (struct ig_act){.kind = IG_SWISH, .alpha = 1};
    } else if (f->n == 2 && a->kind == IG_AFFINE && a->beta == 0 && last->kind == IG_SIGMOID) {
        *act = (struct ig_act){.kind = IG_SWISH, .alpha = a->alpha};
    } else if (f->n == 1 && is(a, IG_HARD_SIGMOID, 1 / 6., 1 / 2.)) {
        act->kind = IG_HARD_SWISH;
    } else if (f->n == 2 && is(a, IG_AFFINE, 1, 3) && is(last, IG_CLIP, 0, 6)) {
        act->kind = IG_HARD_SWISH;
        *factor = 6;
    } else if (f->n == 2 && a->kind == IG_SOFTPLUS && last->kind == IG_TANH) {
        act->kind = IG_MISH;
    } else if (f->n == 3 && a->kind == IG_AFFINE && a->beta == 0 && is_constant(a->alpha, 0.70710678118654752) && a[1].kind == IG_ERF &&
               last->kind == IG_AFFINE && last->alpha == last->beta) {
        act->kind = IG_GELU;
        *factor = 2 * last->alpha;
    }
    return act->kind != IG_NONE;
}

/* Operands of a product or a sum that makes v and that nobody else reads; NULL if v is none. */
static const int32_t *operands_of(const struct ig_graph *g, int32_t v, int32_t kind) {
    int32_t node = edit_sole_reader(g, v) < 0 ? -1 : g->values[v].producer;
    const struct ig_node *n = node < 0 ? NULL : &g->nodes[node];
    return n && n->op == IG_BINARY && n->attrs.binary.kind == kind && n->attrs.binary.act.kind == IG_NONE ? n->in : NULL;
}

/* root^3: by products or a power. */
static int is_cube(const struct ig_graph *g, int32_t v, int32_t root) {
    float exponent;
    const int32_t *in = operands_of(g, v, IG_POW);
    if (in) return in[0] == root && edit_uniform(g, in[1], &exponent) && exponent == 3;
    in = operands_of(g, v, IG_MUL);
    for (int k = 0; in && k < 2; k++) {
        const int32_t *square = in[k] == root ? operands_of(g, in[1 - k], IG_MUL) : NULL;
        if (square && square[0] == root && square[1] == root) return 1;
    }
    return 0;
}

/* Reads one affine node or function; 0 unless v is made by it of a value, and read once. */
static int read_one(const struct ig_graph *g, int32_t v, struct ig_act *act, int32_t *x) {
    int32_t node = edit_sole_reader(g, v) < 0 ? -1 : g->values[v].producer;
    return node >= 0 && unary_read(g, &g->nodes[node], act, x);
}

/* v = factor/2 (1 + tanh(sqrt(2/pi) (root + 0.044715 root^3))), what root is multiplied with for a GELU: its factor; else 0. */
static double gelu_tangent(const struct ig_graph *g, int32_t v, int32_t root) {
    struct ig_act half, tangent, scale, bend;
    int32_t x, cube;
    if (!read_one(g, v, &half, &x) || half.kind != IG_AFFINE || half.alpha != half.beta) return 0;
    if (!read_one(g, x, &tangent, &x) || tangent.kind != IG_TANH) return 0;
    if (!read_one(g, x, &scale, &x) || scale.kind != IG_AFFINE || scale.beta != 0 || !is_constant(scale.alpha, 0.79788456080286536)) return 0;
    const int32_t *in = operands_of(g, x, IG_ADD);
    for (int k = 0; in && k < 2; k++)
        if (in[k] == root && read_one(g, in[1 - k], &bend, &cube) && bend.kind == IG_AFFINE && bend.beta == 0 &&
            is_constant(bend.alpha, 0.044715) && is_cube(g, cube, root))
            return 2. * half.alpha;
    return 0;
}

/* Operand v of a product as c times a value: c, and the value in *root. */
static double factor_of(const struct ig_graph *g, int32_t v, int32_t *root) {
    struct ig_act act;
    int32_t node = g->values[v].producer, x;
    *root = v;
    if (node < 0 || !unary_read(g, &g->nodes[node], &act, &x) || act.kind != IG_AFFINE || act.beta != 0)
        return 1;
    *root = x;
    return act.alpha;
}

static void put(struct ig_graph *g, int32_t node, int32_t x, const struct ig_act *act, double factor) {
    if (factor != 1) {
        const struct ig_shape shape = g->values[x].shape;
        int32_t y = edit_append(g, ig_unary_name(act->kind), IG_UNARY, x, &shape);
        edit_last(g)->attrs.unary.act = *act;
        edit_become(g, node, IG_UNARY, 1, &y);
        g->nodes[node].attrs.unary.act = (struct ig_act){.kind = IG_AFFINE, .alpha = (float)factor};
        return;
    }
    edit_become(g, node, IG_UNARY, 1, &x);
    g->nodes[node].attrs.unary.act = *act;
}

static int compose_product(struct ig_graph *g, int32_t node) {
    const struct ig_node *n = &g->nodes[node];
    struct chain f;
    struct ig_act act;
    double factor, inner;
    int32_t root;
    if (n->op != IG_BINARY || n->attrs.binary.kind != IG_MUL || n->attrs.binary.act.kind != IG_NONE) return 0;
    if (g->values[n->out[0]].shape.type != IG_F32) return 0;
    for (int k = 0; k < 2; k++) {
        for (int scaled = 0; scaled < 2; scaled++) { /* x f(x); then (c x) f(x) */
            factor = scaled ? factor_of(g, n->in[k], &root) : 1;
            if (!scaled) root = n->in[k];
            act = (struct ig_act){.kind = IG_GELU_TANH};
            inner = gelu_tangent(g, n->in[1 - k], root);
            if (inner == 0 && (!read_chain(g, n->in[1 - k], root, &f) || !product_of(&f, &act, &inner))) continue;
            put(g, node, root, &act, factor * inner);
            return 1;
        }
    }
    return 0;
}

/* clip(.., 0, h) s, with s h = 1, is clip(s .., 0, 1): three nodes become a hard sigmoid. */
static int compose_clip(struct ig_graph *g, int32_t node, const struct ig_act *last, int32_t clip_value) {
    struct ig_act clip, first;
    int32_t x, before = g->values[clip_value].producer;
    if (last->kind != IG_AFFINE || last->beta != 0 || edit_sole_reader(g, clip_value) < 0 || before < 0)
        return 0;
    if (!unary_read(g, &g->nodes[before], &clip, &x) || clip.kind != IG_CLIP || clip.alpha != 0) return 0;
    if (!unary_near((double)clip.beta * last->alpha, 1) || g->values[x].producer < 0) return 0;
    if (!unary_read(g, &g->nodes[g->values[x].producer], &first, &x) || first.kind != IG_AFFINE) return 0;
    edit_become(g, node, IG_UNARY, 1, &x);
    g->nodes[node].attrs.unary.act = (struct ig_act){
        .kind = IG_HARD_SIGMOID, .alpha = first.alpha / clip.beta, .beta = first.beta / clip.beta};
    return 1;
}

static int compose_chain(struct ig_graph *g, int32_t node) {
    struct ig_act last, first, both;
    int32_t v, x;
    if (!unary_read(g, &g->nodes[node], &last, &v)) return 0;
    if (compose_clip(g, node, &last, v)) return 1;
    int32_t before = edit_sole_reader(g, v) < 0 ? -1 : g->values[v].producer;
    if (before < 0 || !unary_read(g, &g->nodes[before], &first, &x) || !unary_compose(&first, &last, &both))
        return 0;
    edit_become(g, node, IG_UNARY, 1, &x);
    g->nodes[node].attrs.unary.act = both;
    edit_kill(&g->nodes[before]);
    return 1;
}

/* x^2 is x x, to the bit, x^0.5 a root, and x^-1 a reciprocal. */
static int power_it(struct ig_graph *g, int32_t node) {
    struct ig_node *n = &g->nodes[node];
    float exponent;
    if (n->op != IG_BINARY || n->attrs.binary.kind != IG_POW || n->attrs.binary.act.kind != IG_NONE || !edit_uniform(g, n->in[1], &exponent)) return 0;
    if (g->values[n->out[0]].shape.type != IG_F32 || !edit_same_shape(&g->values[n->in[0]].shape, &g->values[n->out[0]].shape)) return 0;
    if (exponent == 2) {
        n->in[1] = n->in[0];
        n->attrs.binary.kind = IG_MUL;
    } else if (exponent == 0.5f || exponent == -1) {
        edit_become(g, node, IG_UNARY, 1, &n->in[0]);
        n->attrs.unary.act.kind = exponent == -1 ? IG_RECIPROCAL : IG_SQRT;
    } else {
        return 0;
    }
    return 1;
}

/* A node that is a relu, clip or leaky relu in other words says so. */
static int name_it(struct ig_graph *g, int32_t node) {
    struct ig_node *n = &g->nodes[node];
    struct ig_act act;
    int32_t x;
    if (!unary_read(g, n, &act, &x) || act.kind == IG_AFFINE)
        return 0; /* affine nodes: the fold_affine pass */
    if (n->op == IG_UNARY && !memcmp(&act, &n->attrs.unary.act, sizeof act)) return 0;
    edit_become(g, node, IG_UNARY, 1, &x);
    g->nodes[node].attrs.unary.act = act;
    return 1;
}

int ig_pass_compose(struct ig_graph *g) {
    int rewrites = 0;
    for (int i = 0, n = g->n_nodes; i < n; i++) {
        if (!g->nodes[i].n_out) continue;
        rewrites += compose_product(g, i) || compose_chain(g, i) || name_it(g, i) || power_it(g, i);
    }
    return edit_finish(g, rewrites);
}
