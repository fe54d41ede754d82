/*
 * Alternatives: the same network on the same processors, cut elsewhere, for the time when other programs take their
 * share of some of them. A program that carries several chooses for every frame (runtime/cuts.h). One of the stages may be
 * the GPU's, which it is in all of them.
 */
#ifndef PLANNER_ALTERNATIVES_H
#define PLANNER_ALTERNATIVES_H

#include "planner/plan.h"

/*
 * Gives p, a plan with two stages or more, alternatives up to `n` plans in all, within the memory budget: of the
 * cuts that are best under some load of the processors those that lose least over all loads. `o`: as p was made. 0, or
 * -1 with a line in err; fewer are no error.
 */
int ig_add_alternatives(const struct ig_graph *g, const struct ig_plan_options *o, struct ig_plan *p, int32_t n,
                        char *err, size_t err_bytes);

#endif
