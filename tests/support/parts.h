/* Networks whose layers are split over keys, run in this process beside the whole ones. */
#ifndef TESTS_SUPPORT_PARTS_H
#define TESTS_SUPPORT_PARTS_H

#include "planner/deploy/rewrite.h"
#include "planner/plan.h"
#include "tests/support/rng.h"

enum { SPLIT_KEYS = 5, SPLIT_PARTS = 4 };

struct split_orders {
    struct ig_hsplit_order *at; /* [n], pointing into the rest */
    int32_t n, border; /* enum ig_split_border */
    int64_t (*sizes)[SPLIT_PARTS];
    int32_t (*keys)[SPLIT_PARTS];
};

/* n sizes >= 1 that add up to extent, at random. */
void split_sizes(struct rng *r, int32_t n, int64_t extent, int64_t *sizes);
/*
 * One in `one_in` of the nodes that can be cut by rows, or by columns, over 2 to SPLIT_PARTS keys; most of
 * them over the same, so that there are runs.
 */
struct split_orders split_some(struct rng *r, const struct ig_graph *g, int32_t mode, int32_t one_in);
/* One in `one_in` of the convolutions and fc that have no order yet, by output channels. */
void split_more(struct rng *r, const struct ig_graph *g, int32_t one_in, struct split_orders *o);
void split_orders_free(struct split_orders *o);

struct split_whole {
    struct ig_graph *prepared;          /* the network, its views prepared */
    struct ig_plan *plan;               /* of that */
    const struct ig_kernel **kernels;   /* [n_nodes] of the network */
};

/* The plan of g; each node has any kernel that computes it if `r` is not NULL, else the fastest. */
struct split_whole split_whole_make(const struct ig_graph *g, int32_t isa, double max_error, struct rng *r);
void split_whole_free(struct split_whole *w);

/*
 * Runs g split as ordered, out[n_outputs]; with `whole` exact, its kernels pinned. Returns 0, or -1 with a
 * line in err where the rewriting refuses. *made: the graph after it, or NULL if nobody wants it.
 */
int split_run(const struct ig_graph *g, const struct split_orders *o, int32_t cuts, const struct split_whole *whole,
              int32_t isa, uint64_t seed, void **out, struct ig_graph **made, char *err, size_t err_bytes);
/* a[n_outputs] and b[n_outputs] within 1e-4 of the largest; frees both. */
void split_outputs_near(const struct ig_graph *g, void **a, void **b);
/* The fastest instruction set of this processor. */
int32_t split_isa(void);

#endif
