/* Stages and slots in plan.json. A plan without stages has neither. */
#ifndef PLANNER_STAGES_JSON_H
#define PLANNER_STAGES_JSON_H

#include "planner/plan.h"
#include "planner/text.h"

void ig_put_stages(FILE *f, const struct ig_plan *p, const struct ig_graph *g);
/* p has its steps. Fills stages, slots and the times that follow from them. */
void ig_read_stages(struct ig_reader *r, const json_t *root, const struct ig_graph *g, struct ig_plan *p);

#endif
