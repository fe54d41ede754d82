/*
 * Affine nodes (batch norm arrives as MUL and ADD): folded into the weights before or after them, and chains
 * of them made as short as can be: one UNARY where all channels are alike, else MUL and ADD.
 */
#include "graph/passes/affine.h"
#include "graph/passes/edit.h"

static int plain_affine(const struct ig_graph *g, const struct ig_node *n, struct affine *a) {
    if (!affine_read(g, n, a)) return 0;
    if (n->op == IG_UNARY || n->attrs.binary.act.kind == IG_NONE) return 1;
    affine_free(a);
    return 0;
}

/* Collects the chain of affine nodes that begins at `node` into *sum; returns its length, and its last node.
 */
static int collect(const struct ig_graph *g, int32_t node, struct affine *sum, int32_t *last) {
    struct affine next;
    int length = 1;
    *last = node;
    if (!plain_affine(g, &g->nodes[node], sum)) return 0;
    for (;;) {
        int32_t reader = edit_sole_reader(g, g->nodes[*last].out[0]);
        if (reader < 0 || !plain_affine(g, &g->nodes[reader], &next)) return length;
        affine_append(sum, &next);
        affine_free(&next);
        *last = reader;
        length++;
    }
}

/* x op vector, as node `node` or, where that is -1, as a new node; returns the result. */
static int32_t put_binary(struct ig_graph *g, int32_t node, int32_t x, int32_t kind, const double *vector,
                          int32_t n) {
    const struct ig_shape shape = {.type = IG_F32, .rank = 1, .dims = {n, 1, 1, 1, 1, 1, 1, 1}};
    const struct ig_shape like = g->values[x].shape;
    int32_t c = ig_add_const(g, kind == IG_MUL ? "scale" : "offset", &shape, NULL);
    float *to = (float *)(uintptr_t)g->values[c].data;
    for (int i = 0; i < n; i++)
        to[i] = (float)vector[i];
    if (node < 0) {
        edit_append(g, kind == IG_MUL ? "scaled" : "shifted", IG_BINARY, x, &like);
        node = g->n_nodes - 1;
    }
    edit_become(g, node, IG_BINARY, 2, (int32_t[]){x, c});
    g->nodes[node].attrs.binary.kind = kind;
    return g->nodes[node].out[0];
}

static void put_unary(struct ig_graph *g, int32_t node, int32_t x, const struct affine *a) {
    int nothing = (float)a->scale[0] == 1 && (float)a->offset[0] == 0;
    edit_become(g, node, IG_UNARY, 1, &x);
    g->nodes[node].attrs.unary.act = (struct ig_act){
        .kind = nothing ? IG_NONE : IG_AFFINE, .alpha = (float)a->scale[0], .beta = (float)a->offset[0]};
}

static void put(struct ig_graph *g, int32_t last, const struct affine *a) {
    int32_t x = a->x;
    if (a->uniform) {
        put_unary(g, last, x, a);
    } else if (!affine_shifts(a)) {
        put_binary(g, last, x, IG_MUL, a->scale, a->channels);
    } else {
        if (affine_scales(a)) x = put_binary(g, -1, x, IG_MUL, a->scale, a->channels);
        put_binary(g, last, x, IG_ADD, a->offset, a->channels);
    }
}

static void kill_chain(struct ig_graph *g, int32_t node, int32_t last) {
    while (node != last) {
        int32_t next = edit_sole_reader(g, g->nodes[node].out[0]);
        edit_kill(&g->nodes[node]);
        node = next;
    }
}

static int shorten(struct ig_graph *g, int32_t node) {
    struct affine sum;
    int32_t last;
    int length = collect(g, node, &sum, &last);
    if (!length) return 0;
    int needed = sum.uniform ? 1 : affine_scales(&sum) + affine_shifts(&sum);
    int shorter = needed < length || (length == 1 && sum.uniform && g->nodes[node].op == IG_BINARY);
    if (shorter) {
        kill_chain(g, node, last);
        put(g, last, &sum);
    }
    affine_free(&sum);
    return shorter;
}

int ig_pass_fold_affine(struct ig_graph *g) {
    int rewrites = 0;
    for (int i = 0, n = g->n_nodes; i < n; i++)
        rewrites += shorten(g, i);
    rewrites += affine_fold_after(g);
    rewrites += affine_fold_before(g);
    return edit_finish(g, rewrites);
}
