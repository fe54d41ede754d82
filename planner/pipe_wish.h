/* Pipelines for another end than the most frames a second, within limits on the rest. */
#ifndef PLANNER_PIPE_WISH_H
#define PLANNER_PIPE_WISH_H

#include "planner/pipe.h"

struct ig_pipe_wish {
    int32_t objective; /* IG_OBJECTIVE_* of planner/plan.h */
    /* Limits, 0: none. With a period energy is that of frames that come so often, else of frames at the plan's own rate. */
    int64_t period_ns, latency_ns, energy_pj, memory_bytes;
};

struct ig_pipe_choice {
    int64_t looked, kept; /* plans that were looked at, and of these those within all limits */
};

/*
 * The best of all contiguous plans of up to three stages (ig_pipe_each), and of the fastest of more, that keep the limits;
 * of equal ones the first by ig_pipe_compare. Where none keeps them (kept is 0) the nearest: of the least sum of
 * excesses, each as a part of its limit. No stages: no processors can run all.
 */
void ig_pipe_choose(const struct ig_pipe *p, const struct ig_pipe_wish *w, struct ig_pipe_plan *plan,
                    struct ig_pipe_choice *c);
/* What the plan costs of that objective, in ns, pJ or bytes. */
int64_t ig_pipe_value(const struct ig_pipe_plan *plan, int32_t objective);
/*
 * The least of latency or energy at the wish's period among all maps, node by node (ig_pipe_map_within), cut or not: what
 * running other than stages could gain. No stages where there is none.
 */
void ig_pipe_choose_map(const struct ig_pipe *p, const struct ig_pipe_wish *w, struct ig_pipe_plan *plan);

#endif
