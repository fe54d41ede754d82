/* The profiler's second half: bands inside the whole network against the same layers one after the other. */
#ifndef BENCH_BANDS_H
#define BENCH_BANDS_H

#include "bench/profile.h"

/*
 * Fills p->bands, p's timings being there, until ig_bench_ns() reaches end_ns (one round of candidates and
 * one of the choice are always timed). 0, or -1 with a line in err.
 */
int ig_profile_bands(const struct ig_graph *g, const struct ig_profile_options *o, int64_t end_ns,
                     struct ig_profile *p, char *err, size_t err_bytes);

#endif
