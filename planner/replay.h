/* The validator's shadow run: which values the memories hold after every step. */
#ifndef PLANNER_REPLAY_H
#define PLANNER_REPLAY_H

#include "planner/box.h"

struct ig_replay {
    int verdict;             /* IG_PLAN_OK, IG_BAD_ORDER, IG_BAD_ALIAS or IG_OVERLAP_LIVE */
    int32_t step, value;     /* who noticed, and what was missing or overwritten */
    int32_t by;              /* value that was written over it; -1: none was */
};

/* Runs the plan's steps on boxes[n_values]: every tensor read must be there, untouched since it was written.
 */
struct ig_replay ig_replay_plan(const struct ig_graph *g, const struct ig_plan *p,
                                const struct ig_box *boxes);

#endif
