/*
 * A schedule as loops: "[l1]x3 ([l2][l1])x29 [l2]x3" instead of 64 firings. Each loop is a body, a run of the
 * list of firings, and a count.
 */
#ifndef PLANNER_LOOPS_H
#define PLANNER_LOOPS_H

#include <stddef.h>
#include <stdint.h>

struct ig_loop {
    int32_t first, length;   /* body: body[first .. first + length) */
    int32_t count;           /* times, >= 1 */
};

struct ig_loops {
    int32_t n, n_body;
    struct ig_loop *loops;
    int32_t *body;           /* of all loops, one after the other */
};

/*
 * Folds a list of firings: from the left, always the body whose repetitions reach furthest (the shortest of
 * those), up to 1,024 long; what repeats nowhere is a loop of count 1.
 */
void ig_loops_make(struct ig_loops *l, const int32_t *firings, int32_t n);
void ig_loops_free(struct ig_loops *l);
/* The list again, to be freed. */
int32_t *ig_loops_expand(const struct ig_loops *l, int32_t *n);
/*
 * "[a]x3 ([b][a])x29 c", nodes by their names. Returns the length as snprintf does; text may be cut.
 */
size_t ig_loops_text(const struct ig_loops *l, const char *const *names, char *text, size_t bytes);

#endif
