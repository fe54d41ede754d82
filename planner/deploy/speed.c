/* Sizes of parts by the speed of their keys and of the links to them. */
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

double ig_split_share(const struct ig_graph *g, const struct ig_hsplit_order *order,
                      const struct ig_split_options *options, const int32_t *keys, int64_t *sizes)
{
    const struct ig_node *n = &g->nodes[order->node];
    int32_t by = g->values[n->in[0]].producer;
    int64_t extent = ig_split_extent(g, order->node, order->mode);
    int32_t step = options->kernels ? ig_split_step(g, order->node, order->mode, options->kernels[order->node]) : 1;
    struct layer l = {options, order, ig_node_work(g, n), (double)ig_bytes(&g->values[n->in[0]].shape),
                      (double)ig_bytes(&g->values[n->out[0]].shape), (double)extent, by < 0 ? 0 : keys[by]};
    return ig_share_rows(extent, step > 0 ? step : 1, order->n, part_ns, &l, sizes);
}
