/* Kernels and cuts at random, so that networks are tested with more than what is fastest here. */
#ifndef PLANNER_DRAW_H
#define PLANNER_DRAW_H

#include "planner/plan.h"

/*
 * A profile of that many threads with a time drawn from the stream `state` (ig_draw) for each kernel of the ISA that fits a layer, cut at
 * random; so a plan by it has kernels at random. 0, or -1: out of memory. p->timings is the caller's to free().
 */
int ig_draw_profile(struct ig_profile *p, const struct ig_graph *g, int isa, int32_t threads, uint64_t *state);

#endif
