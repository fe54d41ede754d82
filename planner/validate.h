/* Inside the validator: what all checks look at. validate.c and validate_*.c share it. */
#ifndef PLANNER_VALIDATE_H
#define PLANNER_VALIDATE_H

#include "planner/box.h"

struct ig_check {
    const struct ig_graph *g;
    const struct ig_plan *p;
    struct ig_box *boxes;        /* [n_values] */
    struct ig_call *calls;       /* [n_steps], as the plan's strides say; empty where nothing runs */
    int32_t *first, *last;       /* [n_values] steps: born, last read */
    int32_t *held_first, *held_last; /* [n_values] the same of an owner and all that share its storage */
    int32_t *band;               /* [n_steps] the band that a step is in, or -1 */
    int64_t budget;
    char *why;
    size_t why_bytes;
};

/* Writes the line that says what is wrong; returns the verdict. */
__attribute__((format(printf, 3, 4))) int ig_say(struct ig_check *c, int verdict, const char *format, ...);

static inline const char *ig_value_name(const struct ig_check *c, int32_t v)
{
    return c->g->values[v].name;
}

/* The node that a step runs. */
static inline const struct ig_node *ig_checked_node(const struct ig_check *c, int32_t step)
{
    return &c->g->nodes[c->p->steps[step].node];
}

/* Has v bytes of the arena of its own? */
static inline int ig_owns_arena(const struct ig_check *c, int32_t v)
{
    return c->p->buffers[v].alias_of < 0 && c->p->buffers[v].memory == IG_MEMORY_ARENA;
}

/* Do the stages cut the steps, in order, and no band? A verdict; before all others but the count. */
int ig_check_stages(struct ig_check *c);
/* What passes between stages is in slots that are there, enough of them, and nothing else two stages share: a verdict. */
int ig_check_slots(struct ig_check *c);
/* May two owners in the arena, both alive in some step, share bytes? Only where rows keep them apart (overlap.h). */
int ig_may_overlap(const struct ig_check *c, int32_t x, int32_t y);
/* Bytes that the step's tensors need less, at the most, because two of them overlap. */
int64_t ig_most_overlap(const struct ig_check *c, int32_t step);
/* Sizes, alignment, and whether everything lies inside its memory: a verdict. */
int ig_check_places(struct ig_check *c);
/* How steps are cut, whether every row is made, and once, and whether bands find the rows they read: a verdict. */
int ig_check_rows(struct ig_check *c);
/* The arena's height, scratch, weights, the lower bound, the budget: a verdict. */
int ig_check_totals(struct ig_check *c);

#endif
