/* The profile of a network whose layers are split, from that of the network whole. */
#ifndef PLANNER_DEPLOY_PART_PROFILE_H
#define PLANNER_DEPLOY_PART_PROFILE_H

#include "planner/plan.h"

/*
 * of: taken of `prepared`, the whole network with its views; nodes of `before`, the same without them, have its names.
 * whole[split->n_nodes]: the node of `before` that a node of `split` is part of, -1: of none. A part gets the whole
 * layer's timings scaled by its work, with as many chunks; bands stay where no layer of theirs is split.
 * ig_profile_free takes it.
 */
struct ig_profile *ig_split_profile(const struct ig_profile *of, const struct ig_graph *prepared,
                                    const struct ig_graph *before, const struct ig_graph *split, const int32_t *whole);

#endif
