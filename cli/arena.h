/* What a plan keeps where and for how long, as a picture and as a table. */
#ifndef CLI_ARENA_H
#define CLI_ARENA_H

#include <stdio.h>

#include "planner/plan.h"

/* <svg>: a rectangle for each storage from its first to its last step at its offset, scratch hatched, and the most that
 * is held in each step as a line. It is a file of its own, and may stand in HTML. */
void ig_arena_svg(FILE *f, const struct ig_graph *g, const struct ig_plan *p);
/* A line for each tensor that is no constant. */
void ig_arena_table(FILE *f, const struct ig_graph *g, const struct ig_plan *p);
void ig_arena_json(FILE *f, const struct ig_graph *g, const struct ig_plan *p);

#endif
