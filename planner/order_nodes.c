/* A graph as a problem of order: storages are what owns bytes in the arena, touched by whoever reads or writes a view
 * of them. */
#include <stdlib.h>
#include <string.h>

#include "kernels_cpu/registry.h"
#include "planner/alloc.h"
#include "planner/order.h"
#include "planner/views.h"

struct book {
    const struct ig_graph *g;
    struct ig_view *views;   /* [n_values] */
    int32_t *store;          /* [n_values] of a value's root; -1: not in the arena */
};

static int32_t number_stores(struct book *b)
{
    const struct ig_graph *g = b->g;
    int32_t n = 0;
    for (int32_t v = 0; v < g->n_values; v++)
        b->store[v] = b->views[v].root == v && !ig_is_const(g, v) && !ig_is_input(g, v) ? 0 : -1;
    for (int32_t i = 0; i < g->n_outputs; i++) b->store[b->views[g->outputs[i]].root] = -1;
    for (int32_t v = 0; v < g->n_values; v++)
        if (!b->store[v]) b->store[v] = n++;
    for (int32_t v = 0; v < g->n_values; v++) b->store[v] = b->store[b->views[v].root];
    return n;
}

static void touch_values(const struct book *b, struct ig_order_net *net, int32_t node, const int32_t *values,
                         int32_t n)
{
    for (int32_t k = 0; k < n; k++)
        if (values[k] >= 0 && b->store[values[k]] >= 0) ig_order_touch(net, b->store[values[k]], node);
}

/* In-place flags of the first reference kernel that does the node. */
static int32_t reference_flags(const struct book *b, const struct ig_node *n)
{
    struct ig_call call;
    int32_t batch;
    ig_node_call(b->g, b->views, n, &call, &batch);
    for (int i = 0; i < ig_kernel_count(); i++)
        if (ig_kernel_at(i)->isa == IG_ISA_REF && ig_kernel_fits(ig_kernel_at(i), n->op, &call))
            return ig_kernel_at(i)->flags;
    return 0;
}

static int same_extent(const struct ig_graph *g, int32_t a, int32_t b)
{
    struct ig_form fa = ig_form_of(&g->values[a].shape), fb = ig_form_of(&g->values[b].shape);
    return ig_type_bytes(g->values[a].shape.type) == ig_type_bytes(g->values[b].shape.type) &&
           fa.rows == fb.rows && fa.w == fb.w && fa.c == fb.c;
}

/* Could node i's first output lie where operand k lies, if that dies there? */
static int may_overwrite(const struct book *b, const struct ig_order_net *net, const struct ig_node *n, int32_t k)
{
    if (k >= n->n_in || n->in[k] < 0 || n->out[0] < 0) return 0;
    int32_t x = n->in[k], y = n->out[0], in = b->store[x], out = b->store[y];
    if (in < 0 || out < 0 || in == out || b->views[y].root != y || net->size[in] != net->size[out]) return 0;
    for (int32_t i = 0; i < n->n_in; i++)
        if (i != k && n->in[i] >= 0 && b->store[n->in[i]] == in) return 0;
    return same_extent(b->g, x, y) && ig_is_run(&b->views[x], ig_form_of(&b->g->values[x].shape));
}

static void add_node(const struct book *b, struct ig_order_net *net, int32_t i)
{
    static const struct { int32_t flag, operand; } ways[IG_ORDER_WAYS] = {
        {IG_IN_PLACE_0, 0}, {IG_IN_PLACE_1, 1}, {IG_IN_PLACE_3, 3}};
    const struct ig_node *n = &b->g->nodes[i];
    touch_values(b, net, i, n->in, n->n_in);
    touch_values(b, net, i, n->out, n->n_out);
    for (int32_t k = 0; k < n->n_in; k++)
        if (n->in[k] >= 0 && b->g->values[n->in[k]].producer >= 0)
            ig_order_need(net, i, b->g->values[n->in[k]].producer);
    if (ig_node_is_view(b->g, b->views, i)) return;
    int32_t flags = reference_flags(b, n);
    for (int w = 0; w < IG_ORDER_WAYS; w++)
        if ((flags & ways[w].flag) && may_overwrite(b, net, n, ways[w].operand))
            net->over[i][w] = (struct ig_order_over){b->store[n->in[ways[w].operand]], b->store[n->out[0]]};
}

static void describe(const struct ig_graph *g, struct ig_order_net *net)
{
    struct book b = {.g = g};
    b.views = ig_must_alloc((size_t)g->n_values, sizeof *b.views);
    b.store = ig_must_alloc((size_t)g->n_values, sizeof *b.store);
    ig_compute_views(g, b.views);
    ig_order_net_make(net, g->n_nodes, number_stores(&b));
    for (int32_t v = 0; v < g->n_values; v++)
        if (b.views[v].root == v && b.store[v] >= 0) net->size[b.store[v]] = ig_bytes(&g->values[v].shape);
    for (int32_t i = 0; i < g->n_nodes; i++) add_node(&b, net, i);
    free(b.views);
    free(b.store);
}

static void permute(struct ig_graph *g, const int32_t *order)
{
    struct ig_node *nodes = ig_must_alloc((size_t)g->n_nodes, sizeof *nodes);
    memcpy(nodes, g->nodes, (size_t)g->n_nodes * sizeof *nodes);
    for (int32_t i = 0; i < g->n_nodes; i++) {
        g->nodes[i] = nodes[order[i]];
        for (int32_t k = 0; k < g->nodes[i].n_out; k++)
            if (g->nodes[i].out[k] >= 0) g->values[g->nodes[i].out[k]].producer = i;
    }
    free(nodes);
}

int ig_order_nodes(struct ig_graph *g, struct ig_order_gain *gain)
{
    struct ig_order_net net;
    int32_t *order = ig_must_alloc((size_t)g->n_nodes, sizeof *order);
    describe(g, &net);
    for (int32_t i = 0; i < g->n_nodes; i++) order[i] = i;
    gain->before = gain->after = ig_order_peak(&net, order);
    int64_t best = ig_order_best(&net, IG_ORDER_LIMIT, order, &gain->ideals);
    int better = best >= 0 && best < gain->before;
    if (better) {
        permute(g, order);
        gain->after = best;
    }
    ig_order_net_free(&net);
    free(order);
    return better;
}
