/* The profiler's last part: bands of the plans between least memory and least time. */
#ifndef BENCH_FRONTS_H
#define BENCH_FRONTS_H

#include "bench/profile.h"

/*
 * Adds to p->bands those of the plans on p's own front of bytes and time (planner/tradeoff.h), whatever branches they have
 * and of whatever kernels, each against the same layers of the same kernels one after the other, until ig_bench_ns()
 * reaches end_ns (one plan is timed in any case) or all are timed. 0, or -1 with a line in err.
 */
int ig_profile_fronts(const struct ig_graph *g, const struct ig_profile_options *o, int64_t end_ns, struct ig_profile *p,
                      char *err, size_t err_bytes);

#endif
