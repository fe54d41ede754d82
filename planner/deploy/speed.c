/* Sizes of parts by the speed of their keys and of the links to them. */
#include <stdlib.h>

#include "planner/alloc.h"
#include "planner/deploy/costs.h"
#include "planner/deploy/shares.h"

struct layer {
    const struct ig_split_options *options;
    const struct ig_hsplit_order *order;
    double work, in_bytes, out_bytes, extent;
    int32_t from;        /* the key that has its input */
};

/* A part's arithmetic, what it is sent and what it sends to the first part's key, where the join may be. */
static double part_ns(const void *context, int32_t part, int64_t rows)
{
    const struct layer *l = context;
    const struct ig_hsplit_order *o = l->order;
    double share = (double)rows / l->extent;
    double in = o->mode == IG_SPLIT_OUT ? 1 : share, out = o->mode == IG_SPLIT_IN ? 1 : share;
    return l->work * share / ig_key_rate(l->options, o->keys[part]) +
           ig_keys_link_ns(l->options, l->from, o->keys[part], l->in_bytes * in) +
           ig_keys_link_ns(l->options, o->keys[part], o->keys[0], l->out_bytes * out);
}

/* What passes between nodes of `in` and others; from: the key of the first value that enters. */
static void add_passing(const struct ig_graph *g, const uint8_t *in, const int32_t *keys, struct layer *l)
{
    int entered = 0;
    for (int32_t v = 0; v < g->n_values; v++) {
        int32_t by = g->values[v].producer;
        int made = by >= 0 && in[by], inside = 0, outside = ig_is_output(g, v);
        for (int32_t i = 0; i < g->n_nodes; i++)
            for (int32_t k = 0; k < g->nodes[i].n_in; k++) {
                if (g->nodes[i].in[k] != v) continue;
                inside |= in[i];
                outside |= !in[i];
            }
        if (ig_is_const(g, v)) continue;
        if (made && outside) l->out_bytes += (double)ig_bytes(&g->values[v].shape);
        if (made || !inside) continue;
        l->in_bytes += (double)ig_bytes(&g->values[v].shape);
        if (!entered++) l->from = by < 0 ? 0 : keys[by];
    }
}

double ig_split_share(const struct ig_graph *g, const struct ig_hsplit_order *order,
                      const struct ig_split_options *options, const int32_t *keys, int64_t *sizes)
{
    return ig_split_share_run(g, order, 1, options, keys, sizes);
}

double ig_split_share_run(const struct ig_graph *g, const struct ig_hsplit_order *orders, int32_t n,
                          const struct ig_split_options *options, const int32_t *keys, int64_t *sizes)
{
    uint8_t *in = ig_must_alloc((size_t)g->n_nodes, sizeof *in);
    const struct ig_hsplit_order *o = orders;
    int64_t extent = ig_split_extent(g, o->node, o->mode);
    int32_t step = options->kernels ? ig_split_step(g, o->node, o->mode, options->kernels[o->node]) : 1;
    struct layer l = {.options = options, .order = o, .extent = (double)extent};
    for (int32_t i = 0; i < n; i++) {
        in[orders[i].node] = 1;
        l.work += ig_node_work(g, &g->nodes[orders[i].node]);
    }
    add_passing(g, in, keys, &l);
    free(in);
    return ig_share_rows(extent, step > 0 ? step : 1, o->n, part_ns, &l, sizes);
}
