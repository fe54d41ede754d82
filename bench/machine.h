/* This machine as the estimator wants to know it: caches, bandwidths, rates. */
#ifndef BENCH_MACHINE_H
#define BENCH_MACHINE_H

#include <stdint.h>

enum { IG_MACHINE_CACHES = 3, IG_MACHINE_TEAMS = 8, IG_MACHINE_RATES = 4 };

struct ig_machine_rate {
    const char *isa;
    int64_t ops_per_s[IG_MACHINE_TEAMS];    /* multiply-add peak of 1, 2, ... cores together */
};

struct ig_machine {
    char cpu[128];
    int32_t cores;                      /* that this process may use */
    int64_t hz;                         /* highest clock known; 0: unknown */
    int64_t cache_bytes[IG_MACHINE_CACHES]; /* data caches near to far, of the last allowed core; 0: none or unknown */
    int64_t memory_bytes;
    int64_t bytes_per_s[IG_MACHINE_CACHES + 1]; /* read by one core from each cache and from memory */
    int32_t n_teams, n_rates;
    struct ig_machine_rate rates[IG_MACHINE_RATES]; /* of the vector instructions that it has, the kernels' own first */
    int64_t team_overhead_ns[IG_MACHINE_TEAMS]; /* of a step that does nothing, by 1, 2, ... cores */
};

/* Reads /sys and runs the micro-benchmarks: about two seconds. */
void ig_machine_measure(struct ig_machine *m);
/* Pins this thread to the last core that it may use. */
void ig_machine_pin(void);
/* Names of the vector instructions that such a machine may have, the kernels' own first; NULL behind the last. */
const char *ig_peak_isa(int i);
/* Their multiply-add peak on one core, GFLOP/s; 0: it lacks them. */
double ig_peak_of(int i);
/* ns of a step whose kernel does nothing, run by that many threads; 0: they do not start. */
int64_t ig_step_overhead_ns(int32_t threads);

#endif
