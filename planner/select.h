/* Inside the selection: cuts and their cost, and the choice per node. */
#ifndef PLANNER_SELECT_H
#define PLANNER_SELECT_H

#include "planner/plan.h"

enum { IG_MAX_CUTS = 8 };  /* ig_legal_cuts never makes more */

/* Extent of what a cut divides: rows or channels of the first output that is there. */
int32_t ig_cut_extent(const struct ig_call *call, int32_t split);
/* Predicted ns of one image with that cut on that many threads. */
double ig_cut_ns(const struct ig_kernel *k, const struct ig_call *call, struct ig_cut cut, int32_t threads,
                 const struct ig_away *away);
/* Fills kernel, split, chunk, chunks and predicted_ns of node's step; 0, or -1 with a line in err. */
int ig_select_step(const struct ig_graph *g, const struct ig_view *views, int32_t node, const struct ig_away *away,
                   const struct ig_plan_options *options, struct ig_plan_step *step, char *err,
                   size_t err_bytes);

#endif
