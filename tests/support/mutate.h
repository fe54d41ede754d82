/* Plans broken on purpose, for tests of the validator. */
#ifndef TESTS_SUPPORT_MUTATE_H
#define TESTS_SUPPORT_MUTATE_H

#include "planner/plan.h"
#include "tests/support/rng.h"

struct subject {
    struct ig_graph *g;
    struct ig_plan *p;       /* the sound plan */
    struct ig_plan q;        /* the one to break; arrays of its own */
    struct rng r;
    int64_t budget;
};

enum { N_MUTATIONS = 36 };

/* Makes q a copy of p, and drops it. */
void subject_copy(struct subject *s);
void subject_drop(struct subject *s);
const char *mutation_name(int which);
/*
 * Breaks a copy; the test fails unless the validator gives the verdict that belongs to it, or, where it may break more
 * than that, one that comes before. Returns the verdict that belongs to it; 0: not possible in this plan.
 */
int mutation_apply(struct subject *s, int which, uint64_t seed);
/*
 * Blind damage to q: a random field of a random buffer, step or band changes. Returns the verdict: whatever the validator
 * accepts must still compute the same bits.
 */
int mutation_damage(struct subject *s);

#endif
