/*
 * Functions of one quantised tensor: a QUANTIZE of what element-wise ops make of the bytes x, of constants that are one number
 * each, and of nothing else has 256 results. The ops themselves work them out, on the tensor of all bytes: the table of a
 * LOOKUP. So are bytes between the ops that are functions of x in turn, as in x sigmoid(x), where every op is quantised on its
 * own. A table that changes nothing is no op.
 */
#include "graph/late.h"
#include "graph/passes/edit.h"
#include "graph/passes/quantised.h"

enum { BYTES = 256, LARGEST = 64 /* nodes that are looked at */, SOURCES = 8 };

static const struct ig_shape all_bytes = {IG_U8, 1, {BYTES, 1, 1, 1, 1, 1, 1, 1}}, number = {IG_U8, 0, {1, 1, 1, 1, 1, 1, 1, 1}};

static int is_byte(const struct ig_graph *g, int32_t v) {
    return g->values[v].shape.type == IG_U8 || g->values[v].shape.type == IG_I8;
}

static int is_element_wise(const struct ig_node *n) {
    switch (n->op) {
    case IG_UNARY:
    case IG_BINARY:
    case IG_WHERE:
    case IG_CAST:
    case IG_QUANTIZE:
    case IG_DEQUANTIZE:
    case IG_LOOKUP:
    case IG_QLINEAR_BINARY:
        return n->n_out == 1;
    default:
        return 0;
    }
}

/* The element-wise node that makes v; -1: there is none. */
static int32_t maker(const struct ig_graph *g, int32_t v) {
    int32_t node = g->values[v].producer;
    return node >= 0 && is_element_wise(&g->nodes[node]) ? node : -1;
}

/* --- which nodes --- */

struct function {            /* of `source` */
    const struct ig_graph *g;
    int32_t source;
    int32_t n, nodes[LARGEST]; /* each behind those that it reads */
    int left;                /* nodes that may still be looked at */
};

static int contains(const struct function *f, int32_t node) {
    int i = 0;
    while (i < f->n && f->nodes[i] != node) i++;
    return i < f->n;
}

static int is_number(const struct ig_graph *g, int32_t v) {
    return ig_count(&g->values[v].shape) == 1;
}

static int depends(struct function *f, int32_t v);

/* Node, and what it reads, are a function of the source, or of numbers alone: they are in f->nodes. */
static int gather(struct function *f, int32_t node) {
    const struct ig_node *n = &f->g->nodes[node];
    if (--f->left < 0) return 0;
    for (int k = 0; k < n->n_in; k++)
        if (n->in[k] >= 0 && !(n->op == IG_LOOKUP && k == 1) && !depends(f, n->in[k])) return 0;
    f->nodes[f->n++] = node;
    return 1;
}

/* v is the source, one number, or made of them. */
static int depends(struct function *f, int32_t v) {
    if (v == f->source) return 1;
    if (ig_is_const(f->g, v)) return is_number(f->g, v);
    int32_t node = maker(f->g, v);
    return node >= 0 && (contains(f, node) || gather(f, node));
}

struct sources {             /* bytes that a node is made from, the nearest first on each way */
    int n, left;
    int32_t of[SOURCES];
};

static void find_sources(const struct ig_graph *g, int32_t node, struct sources *s) {
    const struct ig_node *n = &g->nodes[node];
    for (int k = 0; k < n->n_in && --s->left >= 0; k++) {
        if (n->in[k] < 0 || ig_is_const(g, n->in[k])) continue;
        if (is_byte(g, n->in[k]) && s->n < SOURCES) s->of[s->n++] = n->in[k];
        if (maker(g, n->in[k]) >= 0) find_sources(g, maker(g, n->in[k]), s);
    }
}

/* Numbers of more dims add some. */
static int is_shaped_alike(const struct ig_graph *g, int32_t a, int32_t b) {
    struct ig_shape s = g->values[a].shape;
    s.type = g->values[b].shape.type;
    return edit_same_shape(&s, &g->values[b].shape);
}

/* --- the table --- */

struct table {               /* being made */
    const struct function *f;
    struct ig_graph *g;      /* f's nodes, in their order; value 0 is all bytes */
    int32_t made[LARGEST];   /* values there, of each node */
};

/* Constant v of f, a number or a table. */
static int32_t constant(struct table *t, int32_t v) {
    const struct ig_value *of = &t->f->g->values[v];
    struct ig_shape shape = ig_count(&of->shape) == BYTES ? all_bytes : number;
    shape.type = of->shape.type;
    ig_late_fetch(t->f->g, of->data);
    return ig_add_const(t->g, "c", &shape, of->data);
}

static int32_t operand(struct table *t, int32_t v) {
    int i = 0;
    if (v < 0) return -1;
    if (v == t->f->source) return 0;
    if (ig_is_const(t->f->g, v)) return constant(t, v);
    while (t->f->nodes[i] != t->f->g->values[v].producer) i++;
    return t->made[i];
}

/* What node i makes: of all bytes, or a number of numbers. 1 if it is known. */
static int compute(struct table *t, int i, ig_eval_fn *eval) {
    const struct ig_node *from = &t->f->g->nodes[t->f->nodes[i]];
    struct ig_shape shape = number;
    struct ig_node *n = ig_add_node(t->g, NULL, (enum ig_op)from->op, from->n_in, 1);
    n->attrs = from->attrs;
    if (from->op == IG_QUANTIZE || from->op == IG_DEQUANTIZE) n->attrs.axis.axis = 0;
    for (int k = 0; k < from->n_in; k++) {
        n->in[k] = operand(t, from->in[k]);
        if (n->in[k] >= 0 && t->g->values[n->in[k]].shape.rank) shape = all_bytes;
    }
    shape.type = t->f->g->values[from->out[0]].shape.type;
    t->made[i] = n->out[0] = ig_add_value(t->g, "v", &shape);
    t->g->values[t->made[i]].producer = i;
    return edit_fold(t->g, i, eval);
}

/* f's last node on all bytes: a constant in g, or -1. */
static int32_t tabulate(struct ig_graph *g, const struct function *f, ig_eval_fn *eval) {
    struct table t = {.f = f, .g = ig_graph_new("table")};
    struct ig_shape shape = all_bytes;
    uint8_t bytes[BYTES];
    int i = 0;
    for (int k = 0; k < BYTES; k++) bytes[k] = (uint8_t)k;
    shape.type = g->values[f->source].shape.type;
    ig_add_const(t.g, "x", &shape, bytes);
    while (i < f->n && compute(&t, i, eval)) i++;
    const struct ig_value *made = i == f->n ? &t.g->values[t.made[i - 1]] : NULL;
    int32_t table = made && ig_count(&made->shape) == BYTES ? ig_add_const(g, "table", &made->shape, made->data) : -1;
    ig_graph_free(t.g);
    return table;
}

/* --- what becomes of the node --- */

/* The node repeats x: it goes, or where its result is the network's and x cannot be, it copies. */
static void repeat(struct ig_graph *g, int32_t node, int32_t x) {
    int32_t y = g->nodes[node].out[0];
    if (ig_is_output(g, y) && (g->values[x].producer < 0 || ig_is_output(g, x))) {
        edit_become(g, node, IG_COPY, 1, &x);
        return;
    }
    ig_replace_uses(g, y, x);
    edit_kill(&g->nodes[node]);
}

static int changes_nothing(const struct ig_graph *g, int32_t x, int32_t table) {
    const uint8_t *to = g->values[table].data;
    int i = 0;
    if (g->values[x].shape.type != g->values[table].shape.type) return 0;
    while (i < BYTES && to[i] == i) i++;
    return i == BYTES;
}

static void become_lookup(struct ig_graph *g, int32_t node, int32_t x, int32_t table) {
    const int32_t in[2] = {x, table};
    if (changes_nothing(g, x, table)) repeat(g, node, x);
    else edit_become(g, node, IG_LOOKUP, 2, in);
}

int quantised_lookup(struct ig_graph *g, int32_t node, ig_eval_fn *eval) {
    struct sources s = {.left = LARGEST};
    if (!eval || (g->nodes[node].op != IG_QUANTIZE && g->nodes[node].op != IG_QLINEAR_BINARY) || g->nodes[node].n_out != 1) return 0;
    find_sources(g, node, &s);
    for (int i = 0; i < s.n; i++) {
        struct function f = {.g = g, .source = s.of[i], .left = LARGEST};
        if (!is_shaped_alike(g, f.source, g->nodes[node].out[0]) || !gather(&f, node)) continue;
        int32_t table = tabulate(g, &f, eval);
        if (table < 0) continue;
        become_lookup(g, node, f.source, table);
        return 1;
    }
    return 0;
}

int quantised_compose(struct ig_graph *g, int32_t node) {
    const struct ig_node *n = &g->nodes[node], *before = edit_producer(g, n->in[0], IG_LOOKUP);
    uint8_t both[BYTES];
    if (n->op != IG_LOOKUP || !before || edit_sole_reader(g, n->in[0]) != node) return 0;
    if (!ig_is_const(g, n->in[1]) || !ig_is_const(g, before->in[1])) return 0;
    const uint8_t *first = g->values[before->in[1]].data, *second = g->values[n->in[1]].data;
    for (int i = 0; i < BYTES; i++) both[i] = second[first[i]];
    int32_t x = before->in[0], table = ig_add_const(g, "table", &g->values[n->in[1]].shape, both);
    become_lookup(g, node, x, table);
    return 1;
}
