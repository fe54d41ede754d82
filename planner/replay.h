/* The validator's shadow run: which values the memories hold after every step. */
#ifndef PLANNER_REPLAY_H
#define PLANNER_REPLAY_H

#include "planner/box.h"

struct ig_replay {
    int verdict;             /* IG_PLAN_OK, IG_BAD_ORDER, IG_BAD_ALIAS or IG_OVERLAP_LIVE */
    int32_t step, value;     /* who noticed, and what was missing or overwritten */
    int32_t by;              /* value that was written over it; -1: none was */
};

/*
 * Runs the plan's steps on boxes[n_values]: every tensor read must be there, untouched since it was written.
 * band[n_steps]: the band that a step is in, or -1; a band is one step that reads what its steps read and
 * writes what its last one does.
 */
struct ig_replay ig_replay_plan(const struct ig_graph *g, const struct ig_plan *p, const int32_t *band,
                                const struct ig_box *boxes);

#endif
