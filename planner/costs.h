/* What the kernels of an ISA cost where nothing was measured: as on a board that was calibrated. */
#ifndef PLANNER_COSTS_H
#define PLANNER_COSTS_H

#include "planner/platform.h"

/* The board whose first processor has costs of the kernels of `isa` (enum ig_isa); NULL: there is none. */
const struct ig_platform *ig_costs_of(int32_t isa);
/* Board b stands for the ISAs whose kernels it has costs of, from now on; it must stay. Returns how many ISAs that are. */
int32_t ig_costs_use(struct ig_platform *b);

#endif
