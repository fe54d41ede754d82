/*
 * How tensors pass between processor and GPU, and how long that takes. On a GPU with memory of its own they are copied.
 * One that shares the processor's memory can use them in place: mapped, which its caches then do not keep, so that every
 * time a byte is read counts (planner/reads.h), or managed, which changes hands once a frame whatever its size. A board's
 * file says what these cost (struct ig_integrated); the least is taken for each tensor.
 */
#ifndef PLANNER_PASSES_H
#define PLANNER_PASSES_H

#include "planner/plan.h"
#include "planner/platform.h"

/*
 * Gives `p`, a GPU's plan, its passes; `staged`: the plan with stages of which it computes one, or NULL: all is the GPU's.
 * What passes in several alternatives of it passes as is best in the first of these.
 */
void ig_plan_passes(const struct ig_graph *g, struct ig_plan *p, const struct ig_plan *staged, const struct ig_platform *board);

/*
 * Gives `p`, whose steps and stages are there, the passes of its stage on the GPU, if it has one, and each stage its
 * pass_ns: the GPU's what copies, mapped accesses and changes of hands take, the processor's their accesses to what is
 * mapped and not cached. The caller's own, to inputs and outputs, are nobody's. `like`: a plan whose passes, and those of
 * its alternatives, go first; NULL: none. `board`: NULL: the GPU's memory is its own; `times`: of such a GPU, what copies
 * take there, or NULL.
 */
void ig_time_passes(const struct ig_graph *g, struct ig_plan *p, const struct ig_plan *like, const struct ig_platform *board,
                    const struct ig_profile *times);
/* The same of p's steps if they were cut into `stages`: ns[n_stages]; p stays as it is. */
void ig_time_cut_passes(const struct ig_graph *g, const struct ig_plan *p, const struct ig_plan_stage *stages, int32_t n_stages,
                        const struct ig_platform *board, const struct ig_profile *times, double *ns);

#endif
