/*
 * In which order to run the nodes so that the least memory is held at once: exact, by dynamic programming over the
 * sets of nodes that may have run (ideals). What is held depends on the set alone, not on how it was reached.
 */
#ifndef PLANNER_ORDER_H
#define PLANNER_ORDER_H

#include <stdint.h>

#include "graph/graph.h"

enum { IG_ORDER_WAYS = 3, IG_ORDER_LIMIT = 1 << 17 };

struct ig_order_over {       /* a node may write `out` over `in`, of the same size, where `in` dies with it; -1: none */
    int32_t in, out;
};

struct ig_order_net {
    int32_t n, n_stores;     /* nodes; storages */
    int32_t words;           /* 64-bit words of a set of nodes */
    int64_t *size;           /* [n_stores] bytes */
    uint64_t *touch;         /* [n_stores][words] nodes that write or read it; it is held from first to last */
    uint64_t *needs;         /* [n][words] nodes that come before */
    struct ig_order_over (*over)[IG_ORDER_WAYS]; /* [n] */
};

void ig_order_net_make(struct ig_order_net *net, int32_t n, int32_t n_stores);
void ig_order_net_free(struct ig_order_net *net);
void ig_order_touch(struct ig_order_net *net, int32_t store, int32_t node);
void ig_order_need(struct ig_order_net *net, int32_t node, int32_t before);

/* Most bytes held in any step of that order. */
int64_t ig_order_peak(const struct ig_order_net *net, const int32_t *order);
/*
 * The order of least peak, of those the first by node indices; returns the peak, or -1 if there are more than
 * `limit` ideals. *ideals: how many there are, or limit.
 */
int64_t ig_order_best(const struct ig_order_net *net, int32_t limit, int32_t *order, int32_t *ideals);

struct ig_order_gain {       /* what ig_order_nodes found */
    int64_t before, after;   /* peak bytes; after = before where nothing was gained or too much was to try */
    int32_t ideals;
};
/*
 * Puts a prepared graph's nodes into the best order, if that lowers the peak (in place as the reference kernels have
 * it). A graph of more than IG_ORDER_LIMIT ideals keeps its order. Returns 1 if the order changed.
 */
int ig_order_nodes(struct ig_graph *g, struct ig_order_gain *gain);

#endif
