/* `ingot inspect --stages`: a plan's pipelines. */
#ifndef CLI_PIPES_H
#define CLI_PIPES_H

#include <stdio.h>

#include "planner/plan.h"

/* The stages and slots of p, and of its alternatives: lines, or one object. */
void ig_pipes_put(FILE *f, const struct ig_graph *g, const struct ig_plan *p, int json);

#endif
