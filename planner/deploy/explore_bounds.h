/* Inside the exploration: what no device can do with less than, for a run of nodes; a longer run never needs less. */
#ifndef PLANNER_DEPLOY_EXPLORE_BOUNDS_H
#define PLANNER_DEPLOY_EXPLORE_BOUNDS_H

#include "planner/deploy/explore.h"

struct ig_bounds {
    const struct ig_ranges *r;
    int32_t halves;              /* stages that a device may have: 1 or 2 */
    int64_t *cores, *gpu;        /* [n_kinds][n + 1] sums of each node's least ns on cores, on the GPU */
    int64_t *pj;                 /* [n + 1] sums of each node's least */
    int64_t *bytes;              /* [n + 1][n + 1] of runs i .. k - 1, row i */
};

void ig_bounds_make(const struct ig_ranges *r, int32_t halves, struct ig_bounds *b);
void ig_bounds_free(struct ig_bounds *b);
/* Of nodes i .. k - 1, at least one: the least of each measure, each by itself. */
void ig_bounds_of(const struct ig_bounds *b, int32_t i, int32_t k, int64_t x[IG_EXPLORE_AXES]);
/*
 * Of the run on a device, whatever memory it takes: the least time, or energy, within limits of both; INT64_MAX: there is
 * none. No less than the bounds, and of a longer run never less, either.
 */
int64_t ig_bounds_least(const struct ig_bounds *b, int32_t i, int32_t k, enum ig_explore_axis axis, int64_t ns, int64_t pj);
/* Cores beside the GPU's host thread, and the GPU: may those two ways share a device? */
int ig_ways_share(const struct ig_explore *x, int32_t a, int32_t b);

#endif
