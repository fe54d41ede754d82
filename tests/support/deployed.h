/* Deployments without a network: nodes given to keys at random, parts run one after the other in this process. */
#ifndef TESTS_SUPPORT_DEPLOYED_H
#define TESTS_SUPPORT_DEPLOYED_H

#include "planner/deploy/parts.h"
#include "planner/plan.h"
#include "tests/support/rng.h"

enum deal { DEAL_CUTS = 0, DEAL_RUNS, DEAL_NODES, DEALS }; /* one piece a key; runs of a few nodes; node by node */

/* key_of[n_nodes] for n_keys, each of which gets a node where there are enough. */
void deal_keys(const struct ig_graph *g, struct rng *r, int32_t n_keys, enum deal how, int32_t *key_of);
/*
 * One frame by the tables of all parts, whose plans take the kernels of `like`, on up to 3 threads; inputs are those of
 * net_run_tables. out[n_outputs] of the whole graph, as net_run_tables gives them.
 */
void parts_run(const struct ig_graph *g, const struct ig_plan *like, const struct ig_parts *p,
               const struct ig_plan_options *o, uint64_t seed, void **out);

#endif
