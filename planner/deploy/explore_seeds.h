/* Inside the exploration: deployments that are found without a search, and good enough to bound one. */
#ifndef PLANNER_DEPLOY_EXPLORE_SEEDS_H
#define PLANNER_DEPLOY_EXPLORE_SEEDS_H

#include "planner/deploy/explore.h"

/*
 * For each way to compute and each measure the network in runs of nearly the same of it, all on that way, on so many devices
 * at most; none where nodes cannot run on it or memory is too small.
 */
void ig_explore_seeds(const struct ig_ranges *r, int32_t devices, struct ig_explore_front *f);

#endif
