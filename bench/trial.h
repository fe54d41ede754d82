/* A plan at work on this machine as a whole, with the threads and cores of its stages: how fast it is in fact. */
#ifndef BENCH_TRIAL_H
#define BENCH_TRIAL_H

#include "planner/plan.h"

struct ig_trial;

struct ig_found {                    /* ns, medians over rounds */
    double period_ns;                /* from result to result */
    double full_ns;                  /* from push to result, where frames always wait; without stages the period */
    double alone_ns;                 /* ... where none does */
    double stage_ns[IG_PLAN_STAGES]; /* at work on a frame */
    double spread;                   /* half of what lies between the 10th and the 90th percentile of the rounds' periods, over their median */
    int32_t rounds;
};

/*
 * Weights, arena and threads of a valid plan, ready to run; g and p are the caller's, for as long. With `like`, which
 * ends later, its weights serve where they are the same. NULL with a line in err: no memory, no threads.
 */
struct ig_trial *ig_trial_start(const struct ig_graph *g, const struct ig_plan *p, const struct ig_trial *like, char *err,
                                size_t err_bytes);
/* Frame after frame for about so long, of which two thirds, two frames at least, do not count, and the rest, five at least, does. Only the last 64
 * rounds are kept. */
void ig_trial_round(struct ig_trial *t, double seconds);
struct ig_found ig_trial_found(const struct ig_trial *t);
void ig_trial_end(struct ig_trial *t); /* NULL: nothing */

#endif
