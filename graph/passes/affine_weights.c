/*
 * Affine nodes folded into weights and bias. Every product is made in double and rounded once; the weights
 * are always a new constant, as others may share the old one. after:  s (w*x + b) + o  = (s w)*x + (s b + o)
 *   before: w*(s x + o) + b  = (w s)*x + (b + sum w o), the latter only where no padding stands in for s x +
 * o
 */
#include "graph/passes/affine.h"
#include "graph/late.h"
#include "graph/passes/edit.h"

struct slots {     /* weights as [outer, inner, k]: */
    int64_t outer; /* output channels; for deconv input channels */
    int64_t inner; /* input channels of a group; for deconv output channels of a group */
    int64_t k;     /* window elements */
    int32_t groups;
    int32_t oc;
};

static struct slots slots_of(const struct ig_graph *g, const struct ig_node *n) {
    const struct ig_shape *w = &g->values[n->in[1]].shape;
    struct slots s = {.outer = w->dims[0], .inner = w->dims[1], .k = 1, .groups = 1};
    for (int i = 2; i < w->rank; i++)
        s.k *= w->dims[i];
    if (n->op != IG_FC) s.groups = n->attrs.conv.groups;
    s.oc = (int32_t)(n->op == IG_DECONV ? s.inner * s.groups : s.outer);
    return s;
}

/* Output channel (of == 0) or input channel (of == 1) that weight [i, j] belongs to. */
static int64_t channel(const struct slots *s, int deconv, int of_input, int64_t i, int64_t j) {
    if (deconv != of_input) return i / (s->outer / s->groups) * s->inner + j;
    return i;
}

/* Constant f32 weights and bias (or none), no activation, and a single reader. */
static int has_room(const struct ig_graph *g, struct ig_node *n) {
    if (!n->n_out || (n->op != IG_CONV && n->op != IG_DECONV && n->op != IG_FC)) return 0;
    if (!edit_f32(g, n->in[1])) return 0;
    return n->n_in < 3 || n->in[2] < 0 || edit_f32(g, n->in[2]);
}

static void scale_weights(struct ig_graph *g, int32_t node, const struct affine *a, int of_input) {
    struct ig_node *n = &g->nodes[node];
    const struct slots s = slots_of(g, n);
    const struct ig_value *old = &g->values[n->in[1]];
    const struct ig_shape shape = old->shape;
    const float *from = old->data;
    ig_late_fetch(g, from);
    int32_t made = ig_add_const(g, old->name, &shape, NULL);
    float *to = (float *)(uintptr_t)g->values[made].data;
    for (int64_t i = 0; i < s.outer; i++)
        for (int64_t j = 0; j < s.inner; j++) {
            double scale = a->scale[channel(&s, n->op == IG_DECONV, of_input, i, j)];
            for (int64_t k = 0; k < s.k; k++, from++, to++)
                *to = (float)(*from * scale);
        }
    n->in[1] = made;
}

/* A new bias: scale (or 1 where NULL) times the old one, plus `add`. */
static void set_bias(struct ig_graph *g, int32_t node, const double *scale, const double *add) {
    struct ig_node *n = &g->nodes[node];
    const struct slots s = slots_of(g, n);
    const struct ig_shape shape = {.type = IG_F32, .rank = 1, .dims = {s.oc, 1, 1, 1, 1, 1, 1, 1}};
    const float *old = n->n_in > 2 && n->in[2] >= 0 ? g->values[n->in[2]].data : NULL;
    int32_t made = ig_add_const(g, old ? g->values[n->in[2]].name : "bias", &shape, NULL);
    float *to = (float *)(uintptr_t)g->values[made].data;
    for (int i = 0; i < s.oc; i++)
        to[i] = (float)((old ? old[i] : 0.0) * (scale ? scale[i] : 1) + add[i]);
    if (n->n_in < 3) {
        struct ig_node was = *n;
        int32_t in[3] = {n->in[0], n->in[1], made};
        edit_become(g, node, (enum ig_op)n->op, 3, in);
        n->attrs = was.attrs;
    }
    n->in[2] = made;
}

static int fold_after(struct ig_graph *g, int32_t node) {
    struct ig_node *n = &g->nodes[node];
    struct affine a;
    if (!has_room(g, n) || edit_act(n)->kind != IG_NONE) return 0;
    int32_t reader = edit_sole_reader(g, n->out[0]);
    if (reader < 0 || !affine_read(g, &g->nodes[reader], &a)) return 0;
    const struct ig_act act = g->nodes[reader].op == IG_BINARY ? g->nodes[reader].attrs.binary.act
                                                               : (struct ig_act){.kind = IG_NONE};
    int residual = n->n_in > 3 && n->in[3] >= 0, scales = affine_scales(&a);
    int legal = !(residual && scales);
    if (legal) {
        if (scales) scale_weights(g, node, &a, 0);
        set_bias(g, node, a.scale, a.offset);
        *edit_act(&g->nodes[node]) = act;
        edit_take_output(g, node, reader);
    }
    affine_free(&a);
    return legal;
}

static int padded(const struct ig_node *n) {
    const struct ig_window *w = &n->attrs.conv.w;
    return n->op == IG_CONV && (w->front || w->top || w->left || w->back || w->bottom || w->right);
}

/* What the offset of its input adds to the result of node n, into sum[oc]. */
static void add_shift(const struct ig_graph *g, const struct ig_node *n, const struct affine *a,
                      double *sum) {
    const struct slots s = slots_of(g, n);
    const float *w = g->values[n->in[1]].data;
    ig_late_fetch(g, w);
    for (int64_t i = 0; i < s.outer; i++) {
        sum[i] = 0;
        for (int64_t j = 0; j < s.inner; j++)
            for (int64_t k = 0; k < s.k; k++)
                sum[i] += *w++ * a->offset[channel(&s, 0, 1, i, j)];
    }
}

static int fold_before(struct ig_graph *g, int32_t node) {
    struct affine a;
    int32_t y = g->nodes[node].n_out ? g->nodes[node].out[0] : -1, reader = edit_sole_reader(g, y);
    if (reader < 0 || !affine_read(g, &g->nodes[node], &a)) return 0;
    struct ig_node *n = &g->nodes[reader];
    int shifts = affine_shifts(&a), act = edit_act(&g->nodes[node])->kind;
    int legal = has_room(g, n) && n->op != IG_DECONV && n->in[0] == y && !(shifts && padded(n));
    legal = legal && (g->nodes[node].op == IG_UNARY || act == IG_NONE);
    if (legal) {
        double *sum = ig_graph_alloc(g, (size_t)slots_of(g, n).oc * sizeof *sum);
        if (shifts) {
            add_shift(g, n, &a, sum);
            set_bias(g, reader, NULL, sum);
        }
        if (affine_scales(&a)) scale_weights(g, reader, &a, 1);
        g->nodes[reader].in[0] = a.x;
        edit_kill(&g->nodes[node]);
    }
    affine_free(&a);
    return legal;
}

int affine_fold_after(struct ig_graph *g) {
    int rewrites = 0;
    for (int i = 0; i < g->n_nodes; i++)
        while (fold_after(g, i))
            rewrites++;
    return rewrites;
}

int affine_fold_before(struct ig_graph *g) {
    int rewrites = 0;
    for (int i = g->n_nodes - 1; i >= 0; i--)
        rewrites += fold_before(g, i);
    return rewrites;
}
