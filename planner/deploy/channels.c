/* Layers cut by output or input channels; a part has its slice of the weights and no more. */
#include "planner/deploy/channels.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "planner/alloc.h"

enum { X, WEIGHTS, BIAS, RESIDUAL };

static int32_t last_dim(const struct ig_graph *g, int32_t v)
{
    const struct ig_shape *s = &g->values[v].shape;
    return s->dims[s->rank - 1];
}

int32_t ig_channels_of(const struct ig_graph *g, const struct ig_node *n, int32_t mode)
{
    if (n->op != IG_FC && n->op != IG_CONV) return 0;
    if (!ig_is_const(g, n->in[WEIGHTS])) return 0;
    if (n->n_in > BIAS && n->in[BIAS] >= 0 && !ig_is_const(g, n->in[BIAS])) return 0;
    if (mode == IG_SPLIT_OUT) return last_dim(g, n->out[0]);
    return n->op == IG_CONV && n->attrs.conv.groups > 1 ? 0 : last_dim(g, n->in[X]);
}

static int32_t groups_of(const struct ig_node *n)
{
    return n->op == IG_CONV ? n->attrs.conv.groups : 1;
}

static int has(const struct ig_node *n, int32_t k)
{
    return n->n_in > k && n->in[k] >= 0;
}

static struct ig_node *new_part(struct ig_rewrite *w, const struct ig_node *old, const char *what, int32_t key,
                                const struct ig_shape *y, int32_t whole)
{
    size_t bytes = strlen(old->name) + 32;
    char *name = ig_must_alloc(bytes, 1);
    snprintf(name, bytes, "%s_%s_%d", old->name, what, key);
    struct ig_node *n = ig_new_node(w, name, (enum ig_op)old->op, old->n_in, y, key, whole);
    n->onnx = old->onnx;
    n->attrs = old->attrs;
    free(name);
    return n;
}

/* How far a node may go that begins with channel c: whole groups, or what there is of one. */
static int32_t end_of_node(int32_t c, int32_t end, int32_t per_group)
{
    int32_t whole = (end - c) / per_group * per_group, border = (c / per_group + 1) * per_group;
    if (c % per_group == 0 && whole) return c + whole;
    return end < border ? end : border;
}

/* Output channels [c.a, c.b): whole groups, or within one. */
static int32_t put_output(struct ig_rewrite *w, const struct ig_node *old, int32_t node, struct ig_rows c, int32_t key)
{
    struct ig_shape y = w->g->values[old->out[0]].shape;
    int32_t groups = groups_of(old), per = y.dims[y.rank - 1] / groups, last = y.rank - 1, in[4] = {-1, -1, -1, -1};
    int32_t inputs = last_dim(w->g, old->in[X]) / groups, g0 = c.a / per, g1 = (c.b + per - 1) / per;
    if (groups == 1) in[X] = ig_fetch_whole(w, old->in[X], key);
    else in[X] = ig_fetch(w, old->in[X], w->g->values[old->in[X]].shape.rank - 1,
                          (struct ig_rows){g0 * inputs, g1 * inputs}, key);
    in[WEIGHTS] = ig_slice_of_const(w->g, old->in[WEIGHTS], 0, c);
    if (has(old, BIAS)) in[BIAS] = ig_slice_of_const(w->g, old->in[BIAS], 0, c);
    if (has(old, RESIDUAL)) in[RESIDUAL] = ig_fetch(w, old->in[RESIDUAL], last, c, key);
    y.dims[last] = c.b - c.a;
    struct ig_node *n = new_part(w, old, "splitco", key, &y, node);
    for (int32_t k = 0; k < n->n_in; k++) n->in[k] = in[k];
    if (n->op == IG_CONV) n->attrs.conv.groups = g1 - g0;
    return n->out[0];
}

void ig_put_outputs(struct ig_rewrite *w, const struct ig_node *old, int32_t node, const struct ig_hsplit_order *o)
{
    struct ig_spread *to = &w->spread[old->out[0]];
    int32_t channels = last_dim(w->g, old->out[0]), per = channels / groups_of(old), c = 0;
    *to = (struct ig_spread){.whole = -1, .axis = w->g->values[old->out[0]].shape.rank - 1};
    to->at = ig_graph_alloc(w->g, (size_t)(3 * o->n) * sizeof *to->at);
    for (int32_t i = 0; i < o->n; i++)
        for (int32_t end = c + (int32_t)o->sizes[i], next; c < end; c = next) {
            next = end_of_node(c, end, per);
            struct ig_rows r = {c, next};
            to->at[to->n++] = (struct ig_piece){put_output(w, old, node, r, o->keys[i]), o->keys[i], r, r};
        }
}

static int32_t put_input(struct ig_rewrite *w, const struct ig_node *old, struct ig_rows c, int32_t key, int is_first)
{
    const struct ig_shape y = w->g->values[old->out[0]].shape;
    int32_t in[4] = {-1, -1, -1, -1};
    in[X] = ig_fetch(w, old->in[X], w->g->values[old->in[X]].shape.rank - 1, c, key);
    in[WEIGHTS] = ig_slice_of_const(w->g, old->in[WEIGHTS], 1, c);
    if (is_first && has(old, BIAS)) in[BIAS] = old->in[BIAS];
    if (is_first && has(old, RESIDUAL)) in[RESIDUAL] = ig_fetch_whole(w, old->in[RESIDUAL], key);
    struct ig_node *n = new_part(w, old, "splitic", key, &y, -1);
    for (int32_t k = 0; k < n->n_in; k++) n->in[k] = in[k];
    if (n->op == IG_CONV) n->attrs.conv.act = (struct ig_act){.kind = IG_NONE};
    else n->attrs.fc.act = (struct ig_act){.kind = IG_NONE};
    return n->out[0];
}

static void put_sum(struct ig_rewrite *w, const struct ig_node *old, const int32_t *parts, int32_t n, int32_t key)
{
    const struct ig_shape y = w->g->values[old->out[0]].shape;
    int32_t sum = parts[0];
    char *name = ig_must_alloc(strlen(old->name) + 8, 1);
    snprintf(name, strlen(old->name) + 8, "%s_sum", old->name);
    for (int32_t i = 1; i < n; i++) {
        int is_last = i == n - 1;
        struct ig_node *add = ig_new_node(w, is_last ? old->name : name, IG_BINARY, 2, &y, key, -1);
        add->in[0] = sum;
        add->in[1] = parts[i];
        add->attrs.binary.kind = IG_ADD;
        if (is_last) add->attrs.binary.act = old->op == IG_CONV ? old->attrs.conv.act : old->attrs.fc.act;
        if (is_last) add->out[0] = old->out[0];
        sum = add->out[0];
    }
    free(name);
}

void ig_put_inputs(struct ig_rewrite *w, const struct ig_node *old, const struct ig_hsplit_order *o, int32_t key)
{
    int32_t *parts = ig_must_alloc((size_t)o->n, sizeof *parts), c = 0;
    for (int32_t i = 0; i < o->n; i++) {
        struct ig_rows r = {c, c + (int32_t)o->sizes[i]};
        parts[i] = put_input(w, old, r, o->keys[i], i == 0);
        c = r.b;
    }
    put_sum(w, old, parts, o->n, key);
    w->spread[old->out[0]] = (struct ig_spread){.whole = old->out[0], .key = key};
    free(parts);
}
