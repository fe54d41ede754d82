/*
 * The plan of a part: the kernels of the whole network's plan, so that its bits are those of one device, with cuts, bands
 * and memory of its own. Where o->isa is another one, it takes kernels of that, and the bits are others.
 */
#ifndef PLANNER_DEPLOY_PART_PLAN_H
#define PLANNER_DEPLOY_PART_PLAN_H

#include "planner/plan.h"

/* Views, order and arithmetic of a part's graph, as of a network's before it is planned. */
void ig_part_prepare(struct ig_graph *part);
/*
 * Of a prepared part of `whole`, whose plan is `like` (NULL: the part takes any kernels); nodes are found by name, those that
 * preparing added take any kernel, as they only move data. o->profile is of the whole network. NULL with a line in err.
 */
struct ig_plan *ig_part_plan(const struct ig_graph *whole, const struct ig_plan *like, const struct ig_graph *part,
                             const struct ig_plan_options *o, char *err, size_t err_bytes);

#endif
