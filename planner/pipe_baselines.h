/* What others did, literally and put right, to compare with: Velasco-Montero 2023 (two stages) and NeuroPipe (Kim
 * 2020). */
#ifndef PLANNER_PIPE_BASELINES_H
#define PLANNER_PIPE_BASELINES_H

#include "planner/pipe.h"

/* --- planner/pipe_cut.c: Algorithm 1 of Velasco-Montero et al., nodes in their order as a chain --- */

struct ig_pipe_cut {
    int32_t first, second; /* processors; the same: one computes all */
    int32_t index;         /* corrected: nodes of the first stage. Printed: the last of them */
    int64_t ns;            /* period by the algorithm's own count; IG_PIPE_NEVER: there is none */
};
/*
 * As printed: returns the last node of the first stage, charges the cut's transfer to both, and the last cut, which is
 * none, too. p has two processors.
 */
struct ig_pipe_cut ig_algorithm1_printed(const struct ig_pipe *p);
/* Put right: one processor has no cut; the tensor is flushed by the one and loaded by the other; any two processors. */
struct ig_pipe_cut ig_algorithm1(const struct ig_pipe *p);
/* That cut as a plan. */
void ig_pipe_cut_plan(const struct ig_pipe *p, const struct ig_pipe_cut *cut, struct ig_pipe_plan *plan);

/* Equation 2: ways to put n modules on so many processors, as printed, and those that differ. */
int64_t ig_mappings_printed(int32_t n, int32_t processors);
int64_t ig_mappings(int32_t n, int32_t processors);

/* --- planner/pipe_climb.c: Algorithm 2 of the same, for a cut that is moved while the network runs --- */

typedef int64_t ig_measure_fn(void *context, int32_t cut); /* the period with that cut, ns */
/* As printed: the period that is aimed at is given, and so is alpha in 1/1024. Cuts are 0..last. *measured: how many.
 */
int32_t ig_algorithm2_printed(int32_t start, int32_t last, int64_t reference_ns, int32_t alpha, ig_measure_fn *measure,
                              void *context, int32_t *measured);
/* Put right: the reference is measured, and follows what is accepted. */
int32_t ig_algorithm2(int32_t start, int32_t last, ig_measure_fn *measure, void *context, int32_t *measured);

/* --- planner/pipe_neuropipe.c --- */

/* alpha: the host's part of a frame without overlap; gamma: how much faster the accelerator runs the network. */
double ig_neuropipe_speedup(double alpha, double gamma);              /* Equation 1 */
double ig_neuropipe_hidden(double alpha);                             /* the host's work hidden, no layer moved */
double ig_neuropipe_n(double alpha, double gamma);                    /* N_opt, the CPU's part, in frames */
double ig_neuropipe_n_printed(double alpha, double gamma);            /* forgets that the host has work already */
double ig_neuropipe_speedup_of(double alpha, double gamma, double n); /* with n frames' worth of layers on the CPU */
double ig_neuropipe_share(double alpha, double gamma, double n);      /* n as part of all layers */
/* The longest tail whose operations are at most that share of all: its layers. */
int32_t ig_neuropipe_tail(const double *operations, int32_t n, double share);
/*
 * Their plan on a host and an accelerator: what only the host can do there, the tail of N_opt too, the rest on the
 * accelerator. `operations` of each node; printed: 1: N_opt as printed.
 */
void ig_neuropipe_plan(const struct ig_pipe *p, int32_t host, int32_t accelerator, const double *operations,
                       int printed, struct ig_pipe_plan *plan);

/* --- planner/pipe_gaps.c: what was expected beside what was measured --- */

struct ig_gaps {
    double mean, worst;
}; /* of |measured - expected| / expected */
double ig_gap(double expected, double measured);
struct ig_gaps ig_gaps_of(const double *expected, const double *measured, int32_t n);
/* A pipeline's rate over the better of its processors alone, and over the sum of their rates. */
double ig_pipeline_gain(double a, double b, double pipeline);
double ig_pipeline_of_sum(double a, double b, double pipeline);

#endif
