/* The validator's own way from a placed node to the call that its kernel gets. */
#ifndef PLANNER_VALIDATE_CALL_H
#define PLANNER_VALIDATE_CALL_H

#include "planner/box.h"

/* The call of node n with the strides and rings of the plan, boxes[n_values]; 0 if strides cannot say where
 * it lies. */
int ig_placed_call(const struct ig_graph *g, const struct ig_plan *p, const struct ig_box *boxes,
                   const struct ig_node *n, struct ig_call *call);
/* Are all operands one run of memory? */
int ig_is_dense(const struct ig_call *call);

#endif
