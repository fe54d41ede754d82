/* From layers to a network (ALOHA, section VII): Algorithm 1, Equations 10-12, and an exact contiguous pipeline. */
#ifndef PLANNER_AGGREGATE_H
#define PLANNER_AGGREGATE_H

#include <stdint.h>

#include "planner/platform.h"

enum { IG_MAX_STAGES = 64 };

struct ig_work {                 /* n layers in topological order on n_pes kinds of processor */
    int32_t n, n_pes;            /* n_pes <= IG_MAX_PROCESSORS */
    const double *s;             /* [n][n_pes] seconds; INFINITY: not supported, or not allowed there */
    const int32_t *count;        /* [n_pes] processors of the kind; NULL: one each */
    const double *copy_s;        /* [n] seconds to hand over what layers from i on read of earlier ones; NULL: 0 */
};

/*
 * Algorithm 1: layer after layer, each on the processor with the least time, the first of equals. pe[n], start_s[n].
 * The latency (Equation 10), or -1 - i if no processor takes layer i.
 */
double ig_schedule(const struct ig_work *w, int32_t *pe, double *start_s);

struct ig_pipeline {
    int32_t n_stages;
    int32_t first[IG_MAX_STAGES]; /* layer that the stage starts with */
    int32_t pe[IG_MAX_STAGES];    /* kind of processor */
    double slowest_s;             /* the frame interval: 1/fps (Equation 11) */
    double sum_s;                 /* through all stages; a full pipeline's latency is n_stages * slowest_s */
};
/*
 * Cuts the layers in contiguous stages, one a processor, so that the slowest stage is as fast as can be; the fewest
 * stages of equals. Exact (dynamic programme over layers and processors used). 0, or -1 if there is no such cut.
 */
int ig_pipeline_cut(const struct ig_work *w, struct ig_pipeline *p);

/*
 * Equation 12, in mJ: layers_mj (Equation 13 summed: time * active power, and traffic), and for every processor,
 * busy for busy_s[], what it idles up to the deadline * its idle power. IG_UNKNOWN where a power is.
 */
double ig_network_mj(const struct ig_platform *b, double layers_mj, const double *busy_s, double deadline_s);

#endif
