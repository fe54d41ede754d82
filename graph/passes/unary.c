/* Reading nodes as activations, and composing two activations. */
#include "graph/passes/unary.h"

#include <math.h>

#include "graph/passes/affine.h"
#include "graph/passes/edit.h"

int unary_near(double a, double b) {
    return fabs(a - b) <= 1e-6 * fabs(b);
}

/* [low, high] as an activation: relu, clip or nothing. */
static struct ig_act interval(float low, float high) {
    if (isinf(low) && isinf(high)) return (struct ig_act){.kind = IG_NONE};
    if (low == 0 && isinf(high)) return (struct ig_act){.kind = IG_RELU};
    return (struct ig_act){.kind = IG_CLIP, .alpha = low, .beta = high};
}

static int read_interval(const struct ig_act *a, float *low, float *high) {
    *low = a->kind == IG_RELU ? 0 : a->alpha;
    *high = a->kind == IG_RELU ? INFINITY : a->beta;
    return (a->kind == IG_RELU || a->kind == IG_CLIP) && *low <= *high;
}

static int read_affine(const struct ig_graph *g, const struct ig_node *n, struct ig_act *act, int32_t *x) {
    struct affine a;
    if (!affine_read(g, n, &a)) return 0;
    *act = (struct ig_act){.kind = IG_AFFINE, .alpha = (float)a.scale[0], .beta = (float)a.offset[0]};
    *x = a.x;
    affine_free(&a);
    return a.uniform;
}

static int read_binary(const struct ig_graph *g, const struct ig_node *n, struct ig_act *act, int32_t *x) {
    int32_t kind = n->attrs.binary.kind;
    float c;
    if (n->attrs.binary.act.kind != IG_NONE) return 0;
    int k = edit_uniform(g, n->in[1], &c) ? 1 : 0; /* the constant operand */
    if (!edit_uniform(g, n->in[k], &c)) return 0;
    *x = n->in[1 - k];
    if (ig_is_const(g, *x) || !edit_same_shape(&g->values[*x].shape, &g->values[n->out[0]].shape)) return 0;
    if (kind == IG_MAX) {
        *act = interval(c, INFINITY);
    } else if (kind == IG_MIN) {
        *act = interval(-INFINITY, c);
    } else if (kind == IG_PRELU && k == 1) {
        *act = (struct ig_act){.kind = IG_LEAKY_RELU, .alpha = c};
    } else {
        return read_affine(g, n, act, x);
    }
    return 1;
}

int unary_read(const struct ig_graph *g, const struct ig_node *n, struct ig_act *act, int32_t *x) {
    float low, high;
    if (!n->n_out || g->values[n->out[0]].shape.type != IG_F32) return 0;
    if (n->op == IG_BINARY) return read_binary(g, n, act, x);
    if (n->op != IG_UNARY) return 0;
    *act = n->attrs.unary.act;
    *x = n->in[0];
    if (read_interval(act, &low, &high)) *act = interval(low, high);
    return g->values[*x].shape.type == IG_F32;
}

static float clamp(float x, float low, float high) {
    return x < low ? low : x > high ? high : x;
}

int unary_compose(const struct ig_act *first, const struct ig_act *second, struct ig_act *out) {
    float low, high, low2, high2;
    if (first->kind == IG_NONE || second->kind == IG_NONE) {
        *out = first->kind == IG_NONE ? *second : *first;
        return 1;
    }
    if (!read_interval(second, &low2, &high2)) return 0;
    if (read_interval(first, &low, &high)) {
        *out = interval(clamp(low, low2, high2), clamp(high, low2, high2));
        return 1;
    }
    if (first->kind != IG_AFFINE || low2 != 0 || high2 != 1) return 0;
    *out = (struct ig_act){.kind = IG_HARD_SIGMOID, .alpha = first->alpha, .beta = first->beta};
    return 1;
}
