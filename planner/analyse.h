/* Analysis of a refined nest (ALOHA, section VI-C): Equations 1-9 and 13; the OPS count and the roofline beside. */
#ifndef PLANNER_ANALYSE_H
#define PLANNER_ANALYSE_H

#include "planner/nest.h"

enum { IG_BOUND_COMPUTE = -1 };

struct ig_analysis {
    int64_t ops_th, ops_re;                 /* operations of the layer; with rounding */
    int64_t size[IG_ROLES];                 /* bytes of the whole tensors (Equation 5) */
    int64_t traffic[IG_ROLES];              /* bytes moved (Equation 7) */
    int64_t channel_bytes[IG_MAX_CHANNELS]; /* by index of the board's channels */
    double compute_s;                       /* ops_re / AP_max */
    double channel_s[IG_MAX_CHANNELS];
    double s;                               /* Equation 9: the longest of those, and the overhead */
    int32_t bound;                          /* index of the channel, or IG_BOUND_COMPUTE */
    double ops_s, ops_re_s;                 /* Equation 1 with AP_max: of ops_th, of ops_re */
    double roofline_s;                      /* Equation 6, over all the channels that carry a tensor */
    double mj;                              /* Equation 13, active power and traffic; IG_UNKNOWN */
};

void ig_analyse(struct ig_analysis *a, const struct ig_nest *nest);
/* Where the processor has rates alone: operations over AP_max, and the overhead. */
void ig_analyse_rates(struct ig_analysis *a, const struct ig_layer *l, const struct ig_platform *b,
                      const struct ig_processor *pe);
/* Equation 6 turned into a time: seconds at the roofline of a bandwidth in bytes/s. */
double ig_roofline_s(const struct ig_analysis *a, const struct ig_processor *pe, double bytes_per_s);

#endif
