/* Processors that slow each other down: they share a memory. Slow-downs are measured with the other one at work. */
#ifndef PLANNER_PIPE_CONTENTION_H
#define PLANNER_PIPE_CONTENTION_H

#include "planner/pipe.h"

struct ig_contention {
    int32_t kappa[IG_PIPE_PROCESSORS][IG_PIPE_PROCESSORS][2]; /* [p][q]: time of p with q at work, of 1000 alone: layers
                                                                 that compute, layers that stream */
    const int32_t *streams; /* [n] of 1000: how far the node streams; NULL: all of it */
};

typedef void ig_pipe_search(const struct ig_pipe *p, struct ig_pipe_plan *plan);

/* ns[n][n_processors] while each processor q is at work busy[q] of 1000 of the time. */
void ig_contended_ns(const struct ig_pipe *p, const struct ig_contention *c, const int32_t *busy, int64_t *ns);
/*
 * The plan's costs with times as they are while it runs: loads give how busy each is, which gives the loads. busy[]:
 * how busy. Returns the rounds until no processor's moved by 1 in 1000.
 */
int32_t ig_contended_settle(const struct ig_pipe *p, const struct ig_contention *c, struct ig_pipe_plan *plan,
                            int32_t *busy);
/*
 * Plans as if the others were always, and never, at work, then with times at the fixed point of what came out; keeps
 * the best at its own fixed point. Returns the rounds, at most IG_CONTENTION_ROUNDS.
 */
enum { IG_CONTENTION_ROUNDS = 5 };
int32_t ig_contended_plan(const struct ig_pipe *p, const struct ig_contention *c, ig_pipe_search *search,
                          struct ig_pipe_plan *plan);

#endif
