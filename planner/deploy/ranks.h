/*
 * Ranks: who of a deployment runs which parts, which tensors each one keeps, and what passes between them. The data of
 * runtime/mpi/rank.h before it is printed; simulations go by it too.
 *
 * Inputs of the network enter at rank 0, which sends them on; outputs leave at the rank that makes output 0.
 */
#ifndef PLANNER_DEPLOY_RANKS_H
#define PLANNER_DEPLOY_RANKS_H

#include "planner/deploy/parts.h"

enum { IG_LEAST_COPIES = 2, IG_MOST_COPIES = 8 }; /* of a tensor that passes */

struct ig_store {     /* a tensor that a rank keeps copies of, taken in turn */
    int32_t value;    /* of the whole graph */
    int32_t copies;
    int32_t writer;   /* part of this rank, by its place in its list; -1: a message, or the user */
    int64_t bytes;    /* of one copy */
};

struct ig_route {     /* a message a frame, seen from one of its two ends */
    int32_t store;
    int32_t peer;     /* rank */
    int32_t number;   /* among the routes of the deployment, by source, tensor's name, destination */
    int32_t copies;   /* of the tensor, the same at both ends */
    int64_t bytes;
};

struct ig_part_stores { /* in the order of the part's inputs and outputs */
    int32_t *in, *out;
    int32_t n_in, n_out;
};

struct ig_rank_plan {
    int32_t *parts;   /* of ig_parts, ascending */
    struct ig_part_stores *io; /* [n_parts] */
    struct ig_store *stores;
    struct ig_route *sends, *receives; /* by number */
    int32_t *inputs, *outputs; /* of the network, by number: stores that the user fills and reads here; -1: none */
    int32_t n_parts, n_stores, n_sends, n_receives;
};

struct ig_ranks {
    struct ig_rank_plan *at; /* by key */
    int32_t n;
    int32_t n_routes;
    int32_t output_rank;     /* where outputs leave */
};

/* Never fails. Keys are ranks; a key without parts has an empty plan, but for inputs that rank 0 sends on. */
struct ig_ranks *ig_ranks_make(const struct ig_graph *g, const struct ig_parts *p, int32_t n_keys);
void ig_ranks_free(struct ig_ranks *r);
/* Bytes of all copies of all stores of a rank. */
int64_t ig_store_bytes(const struct ig_rank_plan *r);
/*
 * Copies of a passing tensor, at each end: as many frames as may be on their way between who makes it and the last who
 * reads it, by the parts on the longest path between them; IG_LEAST_COPIES to IG_MOST_COPIES.
 */
int32_t ig_passing_copies(const struct ig_parts *p, const int32_t *level, const struct ig_passing *what);
/* level[n]: parts on the longest path to each part, itself left out. */
void ig_part_levels(const struct ig_parts *p, int32_t *level);

#endif
