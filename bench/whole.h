/* The network as a whole, frame after frame, with the plan that a profile gives: what the sum of its layers leaves out. */
#ifndef BENCH_WHOLE_H
#define BENCH_WHOLE_H

#include "bench/profile.h"

/*
 * Runs the fastest plan by p until end_ns of ig_bench_ns, at least a few frames, and multiplies all times of p by what the
 * median frame takes over what they sum up to, which p->whole_over_sum then tells. 0, or -1 with a line in err.
 */
int ig_profile_whole(const struct ig_graph *g, const struct ig_profile_options *o, int64_t end_ns, struct ig_profile *p,
                     char *err, size_t err_bytes);

/* Multiplies all times of p by that, which p->whole_over_sum then tells. */
void ig_profile_scale(struct ig_profile *p, double by);

#endif
