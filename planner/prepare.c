/*
 * The last change of the graph: copies go in where a value cannot be a view, concats that contain other
 * concats' inputs are chained, so that afterwards the structure alone says what lies where.
 *
 * Which ops take strides is asked of the reference kernels: they exist for every ISA, so that one prepared
 * graph can be planned for any.
 */
#include <stdlib.h>
#include <string.h>

#include "kernels_cpu/registry.h"
#include "planner/alloc.h"
#include "planner/views.h"

int32_t ig_add_copy(struct ig_graph *g, int32_t v)
{
    struct ig_shape shape = g->values[v].shape;
    int32_t copy = ig_add_value(g, g->values[v].name, &shape);
    struct ig_node *n = ig_add_node(g, NULL, IG_COPY, 1, 1);
    n->in[0] = v;
    n->out[0] = copy;
    return copy;
}

/* The order is settled again after every change; a graph that was sound stays so. */
static void sort(struct ig_graph *g)
{
    char err[256];
    ig_graph_sort(g, err, sizeof err);
}

/* Does concat b read, in a row, all that concat a reads? Then from which input on; else -1. */
static int32_t find_run(const struct ig_node *b, const struct ig_node *a)
{
    size_t bytes = (size_t)a->n_in * sizeof *a->in;
    for (int32_t k = 0; k + a->n_in <= b->n_in; k++)
        if (!memcmp(b->in + k, a->in, bytes)) return k;
    return -1;
}

/* The longest earlier concat that node b contains whole. */
static int32_t find_contained(const struct ig_graph *g, int32_t b, int32_t *at)
{
    int32_t best = -1;
    for (int32_t a = 0; a < b; a++) {
        const struct ig_node *n = &g->nodes[a];
        if (n->op != IG_CONCAT || n->attrs.axis.axis != g->nodes[b].attrs.axis.axis) continue;
        int32_t k = find_run(&g->nodes[b], n);
        if (k < 0 || (best >= 0 && n->n_in <= g->nodes[best].n_in)) continue;
        best = a;
        *at = k;
    }
    return best;
}

/* concat(x, y) and concat(x, y, z), as DenseNet exports have them, become c = concat(x, y), concat(c, z). */
static void chain_concats(struct ig_graph *g)
{
    for (int32_t b = g->n_nodes - 1; b >= 0; b--) {
        struct ig_node *n = &g->nodes[b];
        int32_t at = 0;
        if (n->op != IG_CONCAT || !ig_concat_is_boxes(g, n)) continue;
        int32_t a = find_contained(g, b, &at);
        if (a < 0) continue;
        int32_t rest = n->n_in - at - g->nodes[a].n_in;
        n->in[at] = g->nodes[a].out[0];
        memmove(n->in + at + 1, n->in + at + g->nodes[a].n_in, (size_t)rest * sizeof *n->in);
        n->n_in = at + 1 + rest;
    }
}

/* A concat of its own of inputs [from, from + IG_MAX_IN) of the node; the value that it makes. */
static int32_t join_inputs(struct ig_graph *g, int32_t node, int32_t from)
{
    struct ig_shape shape = g->values[g->nodes[node].out[0]].shape;
    const int32_t *in = g->nodes[node].in + from;
    int32_t axis = g->nodes[node].attrs.axis.axis, extent = 0;
    for (int32_t k = 0; k < IG_MAX_IN; k++) extent += g->values[in[k]].shape.dims[axis];
    shape.dims[axis] = extent;
    int32_t part = ig_add_value(g, g->values[g->nodes[node].out[0]].name, &shape);
    struct ig_node *first = ig_add_node(g, NULL, IG_CONCAT, IG_MAX_IN, 1);
    first->attrs = g->nodes[node].attrs;
    first->out[0] = part;
    memcpy(first->in, in, IG_MAX_IN * sizeof *in);
    return part;
}

/*
 * A concat that needs a kernel and has more inputs than a call has room for: they go into concats of their own, as few as
 * will do, and these likewise: a tree, so that what is copied grows as n log n.
 */
static int split_concat(struct ig_graph *g, int32_t node)
{
    int32_t n = g->nodes[node].n_in, kept = 0, from = 0;
    for (; from + IG_MAX_IN <= n && kept + n - from > IG_MAX_IN; from += IG_MAX_IN) {
        int32_t part = join_inputs(g, node, from);
        g->nodes[node].in[kept++] = part;
    }
    for (; from < n; from++) g->nodes[node].in[kept++] = g->nodes[node].in[from];
    g->nodes[node].n_in = kept;
    return 1;
}

static void split_wide_concats(struct ig_graph *g)
{
    int changed = 0;
    for (int32_t i = 0; i < g->n_nodes; i++)
        while (g->nodes[i].op == IG_CONCAT && g->nodes[i].n_in > IG_MAX_IN &&
               !ig_concat_is_boxes(g, &g->nodes[i]))
            changed = split_concat(g, i);
    if (changed) sort(g);
}

/* Copies in front of all marked inputs; returns how many. */
static int copy_marked(struct ig_graph *g, const uint8_t *marks, const int64_t *first)
{
    int32_t nodes = g->n_nodes;
    int copies = 0;
    for (int32_t i = 0; i < nodes; i++)
        for (int32_t k = 0; k < g->nodes[i].n_in; k++) {
            if (!marks[first[i] + k]) continue;
            int32_t copy = ig_add_copy(g, g->nodes[i].in[k]);
            g->nodes[i].in[k] = copy;
            copies++;
        }
    if (copies) sort(g);
    return copies;
}

struct survey {              /* what a walk over the graph needs and finds */
    const struct ig_graph *g;
    struct ig_link *links;
    struct ig_view *views;
    uint8_t *marks;          /* [first[node] + input]: wants a copy in front */
    int64_t *first;          /* [nodes] */
};

static int begin(struct survey *s, const struct ig_graph *g)
{
    *s = (struct survey){.g = g, .first = ig_must_alloc((size_t)g->n_nodes + 1, sizeof *s->first)};
    for (int32_t i = 0; i < g->n_nodes; i++) s->first[i + 1] = s->first[i] + g->nodes[i].n_in;
    s->links = ig_must_alloc((size_t)g->n_values, sizeof *s->links);
    s->views = ig_must_alloc((size_t)g->n_values, sizeof *s->views);
    s->marks = ig_must_alloc((size_t)s->first[g->n_nodes], 1);
    return ig_link_values(g, s->links, s->marks, s->first);
}

static int end(struct survey *s, struct ig_graph *g)
{
    int copies = copy_marked(g, s->marks, s->first);
    free(s->links);
    free(s->views);
    free(s->marks);
    free(s->first);
    return copies;
}

static void mark(struct survey *s, int32_t node, int32_t input)
{
    s->marks[s->first[node] + input] = 1;
}

/* Marks the concat input that put v inside another value; 0 if none did. */
static int mark_concat_above(struct survey *s, int32_t v)
{
    const struct ig_link *l = &s->links[v];
    while (l->parent >= 0 && l->piece < 0 && s->g->nodes[l->node].in[0] == (int32_t)(l - s->links))
        l = &s->links[l->parent]; /* a reshape whose input follows its output */
    if (l->parent < 0 || l->piece < 0) return 0;
    mark(s, l->node, l->piece);
    return 1;
}

static int is_strided(const struct survey *s, int32_t v)
{
    return !ig_is_run(&s->views[v], ig_form_of(&s->g->values[v].shape));
}

static int reference_fits(int32_t op, const struct ig_call *call)
{
    for (int i = 0; i < ig_kernel_count(); i++) {
        const struct ig_kernel *k = ig_kernel_at(i);
        if (k->isa == IG_ISA_REF && ig_kernel_fits(k, op, call)) return 1;
    }
    return 0;
}

/* Where node i cannot run on the strides it would get, its strided operands become dense ones. */
static void check_strides(struct survey *s, int32_t i)
{
    const struct ig_node *n = &s->g->nodes[i];
    struct ig_call call;
    int32_t batch;
    if (ig_node_is_view(s->g, s->views, i)) return;
    ig_node_call(s->g, s->views, n, &call, &batch);
    if (reference_fits(n->op, &call)) return;
    for (int32_t k = 0; k < n->n_in; k++)
        if (n->in[k] >= 0 && is_strided(s, n->in[k]) && !mark_concat_above(s, n->in[k])) mark(s, i, k);
    for (int32_t k = 0; k < n->n_out; k++)
        if (n->out[k] >= 0 && is_strided(s, n->out[k])) mark_concat_above(s, n->out[k]);
}

/* Concat inputs that cannot be moved into the output get a copy that can; then what strides cannot say,
 * likewise. */
static int copy_pieces(struct ig_graph *g)
{
    struct survey s;
    int copies = 0, added = 0;
    do {
        if (!begin(&s, g)) {
            int32_t bad = ig_resolve_views(g, s.links, s.views);
            if (bad >= 0 && !mark_concat_above(&s, g->nodes[bad].in[0])) mark(&s, bad, 0);
            for (int32_t i = 0; i < g->n_nodes && bad < 0; i++) check_strides(&s, i);
        }
        copies += added = end(&s, g);
    } while (added);
    return copies;
}

/* Output i becomes a copy of what it was, under the name that the caller knows. */
static void copy_output(struct ig_graph *g, int32_t i, int take_name)
{
    int32_t v = g->outputs[i], copy = ig_add_copy(g, v);
    char *name = g->values[v].name;
    g->outputs[i] = copy;
    if (!take_name) return;
    g->values[v].name = g->values[copy].name;
    g->values[copy].name = name;
}

/* An output must fill its storage from end to end and be the only output there; that storage is then the
 * caller's. */
static int copy_outputs(struct ig_graph *g)
{
    struct ig_view *views = ig_must_alloc((size_t)g->n_values, sizeof *views);
    uint8_t *taken = ig_must_alloc((size_t)g->n_values, 1), *seen = ig_must_alloc((size_t)g->n_values, 1);
    int copies = 0;
    ig_compute_views(g, views);
    for (int32_t i = 0; i < g->n_outputs; i++) {
        int32_t v = g->outputs[i], root = views[v].root;
        int whole = ig_count(&g->values[v].shape) == ig_count(&g->values[root].shape);
        if (!whole || taken[root] || ig_is_const(g, root) || ig_is_input(g, root)) {
            copy_output(g, i, !seen[v] && !ig_is_input(g, v));
            copies++;
        } else {
            taken[root] = 1;
        }
        seen[v] = 1;
    }
    free(views);
    free(taken);
    free(seen);
    if (copies) sort(g);
    return copies;
}

int ig_prepare_views(struct ig_graph *g)
{
    split_wide_concats(g);
    chain_concats(g);
    int copies = copy_pieces(g);
    return copies + copy_outputs(g);
}
