/*
 * RESHAPE and TRANSPOSE in the layout pass. A TRANSPOSE moves nothing: its result is its operand with other
 * names for the dimensions. A RESHAPE splits and merges runs of neighbouring dims ("groups": runs of the
 * input and of the output with the same product); it can be done in any order of the dims that keeps the dims
 * of each group together.
 */
#include <string.h>

#include "graph/passes/edit.h"
#include "graph/passes/layout.h"

struct grouping {
    int32_t in[IG_MAX_RANK],
        out[IG_MAX_RANK]; /* group of each dim; -1 for dims of size 1, which are in none */
};

static int next_dim(const struct ig_shape *s, int i) {
    while (i < s->rank && s->dims[i] == 1)
        i++;
    return i;
}

static struct grouping group(const struct ig_shape *x, const struct ig_shape *y) {
    struct grouping made;
    memset(&made, -1, sizeof made);
    int i = next_dim(x, 0), k = next_dim(y, 0);
    for (int id = 0; i < x->rank && k < y->rank; id++) {
        int64_t a = x->dims[i], b = y->dims[k];
        made.in[i] = made.out[k] = id;
        while (a != b) {
            if (a < b) {
                i = next_dim(x, i + 1);
                a *= x->dims[i];
                made.in[i] = id;
            } else {
                k = next_dim(y, k + 1);
                b *= y->dims[k];
                made.out[k] = id;
            }
        }
        i = next_dim(x, i + 1);
        k = next_dim(y, k + 1);
    }
    return made;
}

/* The groups in the order in which `perm` meets them first; returns how many. */
static int group_order(const struct grouping *q, const struct ig_shape *x, const int32_t *perm,
                       int32_t *order) {
    uint32_t seen = 0;
    int n = 0;
    for (int i = 0; i < x->rank; i++) {
        int32_t id = q->in[perm[i]];
        if (id < 0 || seen >> id & 1) continue;
        seen |= 1u << id;
        order[n++] = id;
    }
    return n;
}

/* An order of the dims of s with the groups in the given order; dims of size 1 come first. */
static void arrange(const struct ig_shape *s, const int32_t *group_of, const int32_t *order, int n,
                    int32_t *perm) {
    int at = 0;
    for (int i = 0; i < s->rank; i++)
        if (group_of[i] < 0) perm[at++] = i;
    for (int k = 0; k < n; k++)
        for (int i = 0; i < s->rank; i++)
            if (group_of[i] == order[k]) perm[at++] = i;
}

/* 1 if the orders a and b of a tensor of shape s agree but for dims of size 1. */
static int alike(const struct ig_shape *s, const int32_t *a, const int32_t *b) {
    int32_t step[IG_MAX_RANK];
    struct ig_shape from = edit_permuted_shape(s, a);
    for (int i = 0; i < s->rank; i++)
        for (int k = 0; k < s->rank; k++)
            if (a[k] == b[i]) step[i] = k;
    return edit_keeps_order(&from, step);
}

/* Moves dims of size 1 to where ONNX, or else channels-last, has them. */
static void settle(const struct ig_shape *s, int32_t *perm) {
    int32_t usual[IG_MAX_RANK];
    layout_identity(s->rank, usual);
    if (!alike(s, perm, usual)) layout_channels_last(s->rank, usual);
    if (alike(s, perm, usual)) memcpy(perm, usual, sizeof usual);
}

void layout_reshape(struct layout *l, int32_t node) {
    int32_t x = l->g->nodes[node].in[0], y = l->g->nodes[node].out[0];
    const struct ig_shape *from = &l->of[x].shape, *to = &l->of[y].shape;
    const struct grouping q = group(from, to);
    int32_t order[IG_MAX_RANK], in[IG_MAX_RANK], out[IG_MAX_RANK];
    const struct layout_version *best = l->of[x].versions;
    for (const struct layout_version *v = best; v;
         v = v->next) { /* a version that needs no copy, if there is one */
        arrange(from, q.in, order, group_order(&q, from, v->perm, order), in);
        if (!alike(from, v->perm, in)) continue;
        best = v;
        break;
    }
    int n = group_order(&q, from, best->perm, order);
    arrange(from, q.in, order, n, in);
    arrange(to, q.out, order, n, out);
    settle(from, in);
    settle(to, out);
    int32_t value = alike(from, best->perm, in) ? best->value : layout_demand(l, x, in);
    l->g->nodes[node].in[0] = value;
    layout_define(l, y, out);
}

void layout_transpose(struct layout *l, int32_t node) {
    const struct ig_node *n = &l->g->nodes[node];
    int32_t x = n->in[0], y = n->out[0], rank = l->of[x].shape.rank;
    int32_t inverse[IG_MAX_RANK], perm[IG_MAX_RANK];
    for (int i = 0; i < rank; i++)
        inverse[n->attrs.transpose.perm[i]] = i;
    for (const struct layout_version *v = l->of[x].versions; v; v = v->next) {
        for (int i = 0; i < rank; i++)
            perm[i] = inverse[v->perm[i]];
        layout_add(l, y, v->value, perm);
    }
    l->changes++;
}
