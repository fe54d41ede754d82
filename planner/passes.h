/*
 * How tensors pass between processor and GPU. On a GPU with memory of its own they are copied. One that shares the
 * processor's memory can use them in place: mapped, which its caches then do not keep, so that every time a byte is
 * read counts, or managed, which changes hands once a frame whatever its size. A board's file says what these cost
 * (struct ig_integrated); the least is taken for each tensor.
 */
#ifndef PLANNER_PASSES_H
#define PLANNER_PASSES_H

#include "planner/plan.h"
#include "planner/platform.h"

/*
 * Gives `p`, a GPU's plan, its passes; `staged`: the plan with stages of which it computes one, or NULL: all is the GPU's.
 * What passes in several alternatives of it passes as is best in the first of these.
 */
void ig_plan_passes(const struct ig_graph *g, struct ig_plan *p, const struct ig_plan *staged, const struct ig_platform *board);

#endif
