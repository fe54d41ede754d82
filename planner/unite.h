/*
 * One arena for a plan with stages and its alternatives. Frames on their way may have been cut differently, so that
 * each stage has a part of the arena of its own that serves it in every alternative, and what passes from one stage to
 * another lies in one block for each pair of stages, a copy of which holds what any alternative passes there.
 */
#ifndef PLANNER_UNITE_H
#define PLANNER_UNITE_H

#include "planner/plan.h"

struct ig_part {                     /* where an alternative's memory is in the common arena */
    int64_t shift[IG_PLAN_STAGES];   /* bytes to add to the offsets of what is a stage's own, scratch too */
    int32_t slot[IG_PLAN_SLOTS];     /* by slot of the plan: of the common ones */
    int64_t offset[IG_PLAN_SLOTS];   /* of its first copy in the common arena */
};

struct ig_united {
    int64_t arena_bytes;
    int32_t n, n_slots;              /* alternatives, the plan itself the first; common slots */
    struct ig_plan_slot slots[IG_PLAN_SLOTS]; /* inputs, outputs, then a block for each pair of stages; value -1 */
    struct ig_part *parts;           /* [n] */
};

/* Alternative `i` of p; 0: p. */
static inline const struct ig_plan *ig_alternative(const struct ig_plan *p, int32_t i)
{
    return i ? p->others[i - 1] : p;
}

/* Of a valid plan with stages. */
void ig_unite(const struct ig_plan *p, struct ig_united *u);
void ig_united_free(struct ig_united *u);
/* Bytes of p's arena, which with alternatives is the common one. */
int64_t ig_united_bytes(const struct ig_plan *p);

#endif
