/*
 * In ONNX's layout: group normalisation as exporters before opset 21 write it - an instance normalisation of images seen as
 * [N, groups, rest], then factors and summands of the channels - becomes NORM of that kind, which needs no other layout than convolutions.
 */
#include "graph/passes/edit.h"

struct pattern {
    int32_t norm, back; /* nodes: the normalisation; the reshape behind it */
    int32_t x;          /* what is normalised, [N, C, ...] */
    int32_t channels, groups;
};

static int matches(const struct ig_graph *g, int32_t node, struct pattern *p)
{
    const struct ig_node *n = &g->nodes[node];
    if (n->op != IG_NORM || n->n_out != 1 || n->attrs.norm.kind != IG_NORM_INSTANCE) return 0;
    const struct ig_node *seen = edit_producer(g, n->in[0], IG_RESHAPE);
    const struct ig_shape *s = &g->values[n->in[0]].shape;
    *p = (struct pattern){node, edit_sole_reader(g, n->out[0]), seen ? seen->in[0] : -1, 0, 0};
    if (!seen || s->rank != 3 || p->back < 0 || g->nodes[p->back].op != IG_RESHAPE) return 0;
    const struct ig_shape *x = &g->values[p->x].shape;
    if (x->rank < 3 || x->dims[0] != s->dims[0] || x->dims[1] % s->dims[1]) return 0;
    p->channels = x->dims[1], p->groups = s->dims[1];
    return edit_same_shape(x, &g->values[g->nodes[p->back].out[0]].shape) && edit_f32(g, n->in[1]) && edit_f32(g, n->in[2]);
}

/* Constant v's factor or summand of each channel of x; NULL where it is something else. */
static const float *by_channel(const struct ig_graph *g, int32_t v, const struct ig_shape *x)
{
    const struct ig_shape *s = &g->values[v].shape;
    if (ig_count(s) != x->dims[1] || s->rank > x->rank || s->rank < x->rank - 1) return NULL;
    return s->dims[s->rank - (x->rank - 1)] == x->dims[1] ? edit_f32(g, v) : NULL;
}

/* The factors or summands behind the normalisation go into its own, whose last node is `last`; returns the last one then. */
static int32_t take_affine(const struct ig_graph *g, int32_t last, const struct ig_shape *x, float *scale, float *bias)
{
    for (;;) {
        const int32_t y = g->nodes[last].out[0], reader = edit_sole_reader(g, y);
        const struct ig_node *n = reader < 0 ? NULL : &g->nodes[reader];
        if (!n || n->op != IG_BINARY || n->attrs.binary.act.kind != IG_NONE || (n->attrs.binary.kind != IG_MUL && n->attrs.binary.kind != IG_ADD)) return last;
        const float *by = by_channel(g, edit_other(n, y), x);
        if (!by) return last;
        for (int32_t c = 0; c < x->dims[1]; c++) {
            if (n->attrs.binary.kind == IG_MUL) scale[c] *= by[c], bias[c] *= by[c];
            else bias[c] += by[c];
        }
        last = reader;
    }
}

static float *parameter(struct ig_graph *g, const char *name, int32_t n, int32_t *v)
{
    const struct ig_shape shape = {.type = IG_F32, .rank = 1, .dims = {n, 1, 1, 1, 1, 1, 1, 1}};
    *v = ig_add_const(g, name, &shape, NULL);
    return (float *)(uintptr_t)g->values[*v].data;
}

static void rewrite(struct ig_graph *g, const struct pattern *p)
{
    const struct ig_shape x = g->values[p->x].shape;
    const int32_t width = p->channels / p->groups, old_scale = g->nodes[p->norm].in[1], old_bias = g->nodes[p->norm].in[2];
    struct ig_norm attrs = g->nodes[p->norm].attrs.norm;
    int32_t in[3] = {p->x, -1, -1};
    float *scale = parameter(g, "scale", p->channels, &in[1]), *bias = parameter(g, "bias", p->channels, &in[2]);
    for (int32_t c = 0; c < p->channels; c++) scale[c] = edit_f32(g, old_scale)[c / width], bias[c] = edit_f32(g, old_bias)[c / width];
    const int32_t last = take_affine(g, p->back, &x, scale, bias);
    for (int32_t node = p->norm, next; node != last; node = next) {
        next = edit_sole_reader(g, g->nodes[node].out[0]);
        if (node != p->norm) edit_kill(&g->nodes[node]);
    }
    attrs.kind = IG_NORM_GROUP, attrs.groups = p->groups;
    edit_become(g, p->norm, IG_NORM, 3, in);
    g->nodes[p->norm].attrs.norm = attrs;
    edit_take_output(g, p->norm, last);
}

int ig_pass_group_norm(struct ig_graph *g)
{
    int rewrites = 0;
    for (int32_t i = 0; i < g->n_nodes; i++) {
        struct pattern p;
        if (!matches(g, i, &p)) continue;
        rewrite(g, &p);
        rewrites++;
    }
    return edit_finish(g, rewrites);
}
