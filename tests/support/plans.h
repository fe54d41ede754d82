/* Plans made and checked, their rings tried, and what two of them compute compared. */
#ifndef TESTS_SUPPORT_PLANS_H
#define TESTS_SUPPORT_PLANS_H

#include "planner/plan.h"

/* The plan for "host", max_error 1: Winograd too, several rows at a time. The test fails if there is none that is sound. */
struct ig_plan *plan_make(const struct ig_graph *g, struct ig_plan_options o);
/* The validator accepts it. */
void plan_check(const struct ig_graph *g, const struct ig_plan *p, uint64_t seed);
/* Every ring in turn gets a row less: one more in *rings, and in *slack if the validator does not miss a row then. */
void plan_shorten_rings(const struct ig_graph *g, struct ig_plan *p, int *rings, int *slack);
/* a[n_outputs] and b[n_outputs] are the same bits; frees both. */
void outputs_same(const struct ig_graph *g, void **a, void **b, uint64_t seed);

#endif
