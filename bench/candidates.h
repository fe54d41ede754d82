/* What a profile is to time: for each layer the kernels that fit and the ways to cut them, and in which
 * order. */
#ifndef BENCH_CANDIDATES_H
#define BENCH_CANDIDATES_H

#include "planner/plan.h"

enum { IG_MAX_CANDIDATES = 192, IG_LOOKS = 3 };

struct ig_candidate {
    const struct ig_kernel *kernel;
    struct ig_cut cut;
    int32_t rank;           /* 0: the kernel's favourite cut, 1: the next, ... */
    double estimate;        /* ns, of the kernel */
    double error;           /* of the kernel, measured; 0: it is a direct sum */
    double alone, in_order; /* ns, best of the rounds; 0: not yet timed */
    int32_t looks;          /* rounds that timed it */
    const struct ig_layer_candidates *layer;
};

struct ig_layer_candidates {                   /* of one node; n == 0: a view, nothing to time */
    struct ig_candidate at[IG_MAX_CANDIDATES]; /* by rank, then estimate */
    int32_t n, n_kernels;
};

/* The kernels of `isa` that fit `node`, or the reference kernel where the ISA has none; away: the node's. */
void ig_candidates_find(const struct ig_graph *g, const struct ig_view *views, int32_t node, int32_t isa,
                        int32_t threads, const struct ig_away *away, struct ig_layer_candidates *l);
/*
 * The candidate to time next: first each kernel's favourite cut, by estimate; then twice more those of them that are
 * rivals, up to 2.5 times as slow as the best, as other programs may have taken time from either; then the other cuts,
 * those of the fastest kernels first, of hopeless ones none; at last the rival that was looked at least often.
 */
struct ig_candidate *ig_candidates_next(struct ig_layer_candidates *l);
/* Its kernel took over 1.5 times as long as the layer's best, or is not timed but estimated at over twice as long. */
int ig_candidate_hopeless(const struct ig_candidate *c);
/* The candidate that a step of a plan is, or NULL. */
struct ig_candidate *ig_candidates_of_step(struct ig_layer_candidates *l, const struct ig_plan_step *s);

#endif
