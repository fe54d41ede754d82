/* The profiler: times every legal kernel variant and cut of every layer on this machine. */
#ifndef BENCH_PROFILE_H
#define BENCH_PROFILE_H

#include "planner/plan.h"

struct ig_profile_options {
    int32_t isa; /* enum ig_isa */
    int32_t threads;
    double seconds; /* budget of the whole run; overrun only so far that each variant is timed once */
    int fronts;     /* bands of the plans between least memory and least time, too, in the last quarter of the budget */
    void (*progress)(int done, int all); /* rounds; called many times a round. Or NULL */
};

/*
 * A profile of g, records sorted by node, kernel, cut; graph_sha256 is left "". NULL with a line in err: a
 * node that no kernel computes, or memory is short.
 */
struct ig_profile *ig_profile_take(const struct ig_graph *g, const struct ig_profile_options *options,
                                   char *err, size_t err_bytes);
/* GFLOP/s of a register-only FMA loop on one core with the best ISA of this program; 0 where unknown. */
double ig_fma_peak(void);
/* Monotonic time. */
int64_t ig_bench_ns(void);
/* Floats in [0, 1), integers zero: valid for every op. */
void ig_bench_fill(const struct ig_shape *s, void *data);
/* The CPU's name. */
void ig_cpu_name(char *text, size_t n);

#endif
