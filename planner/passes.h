/*
 * How tensors pass between processor and GPU. On a GPU with memory of its own they are copied. One that shares the
 * processor's memory can use them in place: mapped, which its caches then do not keep, so that every time a byte is
 * read counts, or managed, which changes hands once a frame whatever its size. A board's file says what these cost
 * (struct ig_integrated); the least is taken for each tensor.
 */
#ifndef PLANNER_PASSES_H
#define PLANNER_PASSES_H

#include "planner/plan.h"
#include "planner/platform.h"

/* Who touches a storage: before the GPU's steps, these, and behind them. */
enum { IG_MADE_BEFORE = 1, IG_TOUCHED = 2, IG_MADE = 4, IG_READ_BEHIND = 8 };

/* marks[n_values], zeroed, of roots; `s`: the GPU's stage, NULL: all steps are the GPU's. Steps that run nothing touch
 * nothing. */
void ig_mark_passes(const struct ig_graph *g, const struct ig_plan *p, const struct ig_plan_stage *s, uint8_t *marks);

static inline int ig_passes_in(uint8_t marks)
{
    return (marks & IG_MADE_BEFORE) && (marks & IG_TOUCHED);
}

static inline int ig_passes_out(uint8_t marks)
{
    return (marks & IG_MADE) && (marks & IG_READ_BEHIND);
}

/* Gives `p`, a GPU's plan, its passes; `staged`: the plan with stages of which it computes one, or NULL: all is the GPU's. */
void ig_plan_passes(const struct ig_graph *g, struct ig_plan *p, const struct ig_plan *staged, const struct ig_platform *board);
/* enum ig_pass_kind of a root; pinned if the plan does not say. */
int32_t ig_pass_kind(const struct ig_plan *p, int32_t value);

#endif
