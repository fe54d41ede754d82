/*
 * Several networks under one memory budget: which plan of each. They run in turn and share one arena, as large as the
 * largest of theirs, or at the same time, each with its own; weights are everybody's own. It is Algorithm 2 of Minakova &
 * Stefanov (2022) with exact fronts in the place of its genetic search.
 */
#ifndef PLANNER_JOINT_H
#define PLANNER_JOINT_H

#include "planner/tradeoff.h"

enum ig_joint_way { IG_JOINT_IN_TURN = 0, IG_JOINT_AT_ONCE };

struct ig_joint {
    int64_t arena_bytes, weights_bytes; /* of all */
    int64_t ns;                         /* the sum of a frame of each */
};

/* What the points point[n] of fronts[n] take together; at once, every arena takes a multiple of IG_ALIGN. */
struct ig_joint ig_joint_sum(const struct ig_tradeoff *fronts, const int32_t *point, int32_t n, int way);
/*
 * The points of the least sum of times within `budget` bytes (0: any), or with IG_OBJECTIVE_MEMORY of the fewest bytes;
 * exact. 0; or -1 if none is within the budget, point[n] then being those of the fewest bytes. No front is empty.
 */
int ig_joint_choose(const struct ig_tradeoff *fronts, int32_t n, int way, int objective, int64_t budget, int32_t *point);

#endif
