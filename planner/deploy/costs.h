/* Inside the rewriting: what arithmetic and messages of split layers cost. */
#ifndef PLANNER_DEPLOY_COSTS_H
#define PLANNER_DEPLOY_COSTS_H

#include "planner/deploy/rewrite.h"

/* Multiply-accumulates of a node; of one that has none, elements of its output. */
static inline double ig_node_work(const struct ig_graph *g, const struct ig_node *n)
{
    return n->macs > 0 ? n->macs : (double)ig_count(&g->values[n->out[0]].shape);
}

/* Of them a ns. */
static inline double ig_key_rate(const struct ig_split_options *o, int32_t key)
{
    return o->rates ? o->rates[key] : 20;
}

/* ns of a node, whole, on that key. */
static inline double ig_layer_ns(const struct ig_split_options *o, const struct ig_graph *g, int32_t node, int32_t key)
{
    double ns = o->layer_ns ? o->layer_ns[key][node] : 0;
    return ns > 0 ? ns : ig_node_work(g, &g->nodes[node]) / ig_key_rate(o, key);
}

/* ns that so many bytes take from key to key; keys without devices are devices of their own. */
static inline double ig_keys_link_ns(const struct ig_split_options *o, int32_t from, int32_t to, double bytes)
{
    if (from == to || bytes <= 0) return 0;
    if (!o->devices) return ig_link_ns(NULL, from, to, (int64_t)bytes);
    return ig_link_ns(o->site, o->devices[from], o->devices[to], (int64_t)bytes);
}

#endif
