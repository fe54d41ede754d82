/*
 * Which tensors of a float network become bytes, so that the quantised pass finds ops on bytes around them. Convolutions and products with
 * a constant matrix ask for bytes; what else can be done on bytes goes along where all that it reads are such. An activation behind an
 * op, a matrix product's bias and a chain of what is linear channel by channel are the op's: bytes are behind them. What is computed
 * element by element of one tensor, such as x sigmoid(x), is one table: bytes are behind the last of it. Tensors that only move share the
 * bytes of what they are moved from; the parts of a concatenation share its scale, so that none has to be brought to it.
 */
#include <stdlib.h>

#include "graph/late.h"
#include "graph/passes/affine.h"
#include "graph/passes/edit.h"
#include "graph/passes/quantised.h"

enum state { FLOATS, FUSED /* inside an op that ends in bytes */, LOCAL /* of a function of one tensor */, MOVED, BYTES };

struct choice {
    const struct ig_graph *g;
    uint8_t *state;
    int32_t *root;  /* BYTES, MOVED: the tensor that holds the bytes first; LOCAL: that it is a function of */
    int32_t *like;  /* of BYTES: one that it shares its scale with, itself at last */
};

static int32_t leader(const struct choice *c, int32_t v) {
    while (c->like[v] != v) v = c->like[v];
    return v;
}

static void share(struct choice *c, int32_t a, int32_t b) {
    c->like[leader(c, a)] = leader(c, b);
}

static int is_bytes(const struct choice *c, int32_t v) {
    return c->state[v] == BYTES || c->state[v] == MOVED;
}

static void set_bytes(struct choice *c, int32_t v) {
    c->state[v] = BYTES;
    c->root[v] = v;
}

static int is_float_data(const struct ig_graph *g, int32_t v) {
    return v >= 0 && !ig_is_const(g, v) && g->values[v].shape.type == IG_F32;
}

static int is_number(const struct ig_graph *g, int32_t v) {
    return ig_is_const(g, v) && ig_count(&g->values[v].shape) == 1;
}

/* The operand that is no constant, or the first. */
static int32_t data_of(const struct ig_graph *g, const struct ig_node *n) {
    int k = n->op == IG_BINARY && ig_is_const(g, n->in[0]) ? 1 : 0;
    return n->n_in > k ? n->in[k] : -1;
}

static int is_clip(const struct ig_node *n) {
    const struct ig_act *a = &n->attrs.unary.act;
    return n->op == IG_UNARY && (a->kind == IG_RELU || (a->kind == IG_CLIP && a->alpha <= a->beta));
}

/* --- layers --- */

int quantise_is_layer(const struct ig_graph *g, const struct ig_node *n) {
    const struct ig_matmul *a = &n->attrs.matmul;
    if ((n->op != IG_CONV && n->op != IG_MATMUL) || !is_float_data(g, n->in[0]) || !edit_f32(g, n->in[1])) return 0;
    int32_t rank = g->values[n->in[0]].shape.rank;
    int bias_is_known = n->n_in < 3 || n->in[2] < 0 || edit_f32(g, n->in[2]);
    if (n->op == IG_CONV) return n->attrs.conv.act.kind == IG_NONE && bias_is_known && (n->n_in < 4 || n->in[3] < 0);
    return !a->trans_a && a->alpha >= 1 && a->alpha <= 1 && rank >= 2 && rank <= 5 && g->values[n->in[1]].shape.rank == 2;
}

static int is_linear(const struct ig_graph *g, const struct ig_node *n) {
    struct affine a;
    if (n->op != IG_BINARY || n->attrs.binary.act.kind != IG_NONE || !affine_read(g, n, &a)) return 0;
    affine_free(&a);
    return 1;
}

/* Node n adds a constant to a product's columns. */
static int is_bias(const struct ig_graph *g, const struct ig_node *n) {
    const struct ig_shape *y = &g->values[n->out[0]].shape;
    if (n->op != IG_BINARY || n->attrs.binary.kind != IG_ADD || n->attrs.binary.act.kind != IG_NONE) return 0;
    const struct ig_shape *b = &g->values[n->in[ig_is_const(g, n->in[0]) ? 0 : 1]].shape;
    if (b->rank < 1 || b->rank > y->rank || (!edit_f32(g, n->in[0]) && !edit_f32(g, n->in[1]))) return 0;
    return ig_count(b) == y->dims[y->rank - 1] && b->dims[b->rank - 1] == ig_count(b);
}

/* v, which node n makes of bytes, is bytes unless what reads it alone is n's to do: a bias of a product, more that is linear, a clip. */
static void end(struct choice *c, const struct ig_node *n, int32_t v) {
    int32_t reader = edit_sole_reader(c->g, v), x = n->op == IG_BINARY ? data_of(c->g, n) : -1;
    const struct ig_node *next = reader < 0 ? NULL : &c->g->nodes[reader];
    int linear = is_linear(c->g, n) && !edit_producer(c->g, x, IG_MATMUL);
    if (next && (is_clip(next) || (n->op == IG_MATMUL && is_bias(c->g, next)) || (linear && is_linear(c->g, next)))) c->state[v] = FUSED;
    else set_bytes(c, v);
}

/* --- functions of one tensor --- */

/* The tensor that v is a function of, or is; -1: none of bytes. */
static int32_t source(const struct choice *c, int32_t v) {
    if (c->state[v] == LOCAL) return c->root[v];
    return is_bytes(c, v) ? v : -1;
}

/* Operand `of` of node n is number, or a function of x. */
static int goes_along(const struct choice *c, const struct ig_node *n, int of, int32_t x) {
    return n->in[of] >= 0 && (is_number(c->g, n->in[of]) || (!ig_is_const(c->g, n->in[of]) && source(c, n->in[of]) == x));
}

static int is_function(const struct choice *c, const struct ig_node *n, int32_t x) {
    if (n->op != IG_UNARY && n->op != IG_BINARY) return 0;
    for (int k = 0; k < n->n_in; k++)
        if (!goes_along(c, n, k, x)) return 0;
    return edit_same_shape(&c->g->values[n->out[0]].shape, &c->g->values[x].shape);
}

/* v is a function of x. All that read it go on with one: it is floats within. */
static void function(struct choice *c, int32_t v, int32_t x) {
    c->state[v] = LOCAL;
    c->root[v] = x;
    int within = !ig_is_output(c->g, v);
    for (int i = 0; i < c->g->n_nodes && within; i++)
        for (int k = 0; k < c->g->nodes[i].n_in; k++)
            if (c->g->nodes[i].in[k] == v) within = within && is_function(c, &c->g->nodes[i], x);
    if (!within) set_bytes(c, v);
}

/* --- all --- */

static int are_bytes(const struct choice *c, const struct ig_node *n) {
    for (int k = 0; k < n->n_in; k++)
        if (!is_bytes(c, n->in[k])) return 0;
    return n->n_in > 0;
}

static void concatenate(struct choice *c, const struct ig_node *n) {
    set_bytes(c, n->out[0]);
    for (int k = 0; k < n->n_in; k++) share(c, c->root[n->in[k]], n->out[0]);
}

/* Two tensors that are added or multiplied. */
static int combines(const struct choice *c, const struct ig_node *n) {
    const struct ig_shape *a = &c->g->values[n->in[0]].shape, *b = n->n_in > 1 ? &c->g->values[n->in[1]].shape : NULL;
    int32_t kind = n->attrs.binary.kind;
    if (n->op != IG_BINARY || (kind != IG_ADD && kind != IG_MUL) || n->attrs.binary.act.kind != IG_NONE) return 0;
    return are_bytes(c, n) && (edit_same_shape(a, b) || ig_is_pixel(c->g, a, b) || ig_is_pixel(c->g, b, a));
}

static void choose(struct choice *c, const struct ig_node *n) {
    int32_t x = data_of(c->g, n), y = n->out[0];
    if (!is_float_data(c->g, x) || n->n_out != 1 || !is_float_data(c->g, y)) return;
    if (quantise_is_layer(c->g, n)) {
        if (!is_bytes(c, x)) set_bytes(c, x);
        end(c, n, y);
    } else if (c->state[x] == FUSED) {
        if (is_clip(n)) set_bytes(c, y);
        else end(c, n, y);
    } else if (source(c, x) >= 0 && is_function(c, n, source(c, x))) {
        function(c, y, source(c, x));
    } else if (combines(c, n) || (is_bytes(c, x) && is_linear(c->g, n))) {
        end(c, n, y);
    } else if (is_bytes(c, x) && quantised_is_average(c->g, n)) {
        set_bytes(c, y);
    } else if (n->op == IG_CONCAT && are_bytes(c, n)) {
        concatenate(c, n);
    } else if (is_bytes(c, x) && n->n_in == 1 && quantised_moves(n)) {
        c->state[y] = MOVED;
        c->root[y] = c->root[x];
    }
}

static void prepare(struct ig_graph *g, ig_eval_fn *eval) {
    int more = 1;
    ig_graph_sweep(g);
    while (more) {
        more = ig_pass_identity(g) + ig_pass_fold_constants(g, eval);
        more += edit_finish(g, affine_fold_after(g) + affine_fold_before(g));
    }
}

int32_t ig_quantise_find(struct ig_graph *g, ig_eval_fn *eval, struct ig_quantised_tensor **tensors) {
    prepare(g, eval);
    const size_t n = (size_t)g->n_values + 1;
    struct choice c = {g, ig_graph_alloc(g, n), ig_graph_alloc(g, n * sizeof *c.root), ig_graph_alloc(g, n * sizeof *c.like)};
    struct ig_quantised_tensor *t = ig_graph_alloc(g, n * sizeof *t);
    int32_t found = 0, *at = ig_graph_alloc(g, n * sizeof *at);
    for (int32_t v = 0; v < g->n_values; v++) c.like[v] = v;
    for (int32_t i = 0; i < g->n_nodes; i++)
        if (g->nodes[i].n_out) choose(&c, &g->nodes[i]);
    for (int32_t v = 0; v < g->n_values; v++)
        if (c.state[v] == BYTES) at[v] = found, t[found++] = (struct ig_quantised_tensor){.value = v};
    for (int32_t i = 0; i < found; i++) t[i].like = at[leader(&c, t[i].value)];
    *tensors = t;
    return found;
}
