/*
 * A dense block's layers all read what was there before them and add to it. Written into one storage, that storage is
 * held whole from its first piece on, which a pool may write while all before it is at its largest. A copy costs the
 * time of one piece, and the whole is then held from that copy on.
 */
#include <stdlib.h>

#include "planner/alloc.h"
#include "planner/views.h"

/* Marks what is made of v, in one way or another. */
static void mark_descendants(const struct ig_graph *g, int32_t v, uint8_t *made)
{
    for (int32_t i = 0; i < g->n_values; i++) made[i] = i == v;
    for (int32_t i = 0; i < g->n_nodes; i++) {
        int any = 0;
        for (int32_t k = 0; k < g->nodes[i].n_in; k++) any |= g->nodes[i].in[k] >= 0 && made[g->nodes[i].in[k]];
        for (int32_t k = 0; k < g->nodes[i].n_out; k++)
            if (any && g->nodes[i].out[k] >= 0) made[g->nodes[i].out[k]] = 1;
    }
}

/* Is every other tensor in v's storage made of v, and v less than half of it? */
static int is_worth_it(const struct ig_graph *g, const struct ig_view *views, int32_t v, uint8_t *made)
{
    int32_t root = views[v].root;
    int32_t producer = g->values[v].producer;
    if (root == v || producer < 0 || g->nodes[producer].op == IG_COPY || ig_node_is_view(g, views, producer)) return 0;
    if (ig_is_output(g, root) || 2 * ig_bytes(&g->values[v].shape) >= ig_bytes(&g->values[root].shape)) return 0;
    mark_descendants(g, v, made);
    for (int32_t u = 0; u < g->n_values; u++)
        if (views[u].root == root && !made[u]) return 0;
    return 1;
}

/* Whoever reads v but the copy itself, which is the last node, reads the copy: v is gone once it is made. */
static void read_copy(struct ig_graph *g, int32_t v, int32_t copy)
{
    for (int32_t i = 0; i < g->n_nodes - 1; i++)
        for (int32_t k = 0; k < g->nodes[i].n_in; k++)
            if (g->nodes[i].in[k] == v) g->nodes[i].in[k] = copy;
}

int ig_detach_pieces(struct ig_graph *g)
{
    struct ig_view *views = ig_must_alloc((size_t)g->n_values, sizeof *views);
    uint8_t *made = ig_must_alloc((size_t)g->n_values, 1);
    int32_t nodes = g->n_nodes;
    int copies = 0;
    char err[256];
    ig_compute_views(g, views);
    for (int32_t i = 0; i < nodes; i++)
        for (int32_t k = 0; k < g->nodes[i].n_in; k++) {
            int32_t v = g->nodes[i].in[k];
            if (g->nodes[i].op != IG_CONCAT || !ig_node_is_view(g, views, i) || !is_worth_it(g, views, v, made)) continue;
            read_copy(g, v, ig_add_copy(g, v));
            copies++;
            i = nodes; /* one at a time: numbers of values change */
            break;
        }
    free(views);
    free(made);
    if (!copies) return 0;
    ig_graph_sort(g, err, sizeof err);
    return copies + ig_detach_pieces(g);
}
