/* Inside the memory planner: whose storage each value uses, for how long. */
#ifndef PLANNER_MEMORY_H
#define PLANNER_MEMORY_H

#include <stdint.h>

#include "planner/plan.h"

struct ig_storage {          /* of one value */
    int32_t owner;           /* value whose storage holds it; itself if it is the owner */
    int32_t memory, index;   /* of the owner: enum ig_memory, input or output number */
    int32_t first, last;     /* steps, inclusive: the value's own life */
    int32_t held_first,
        held_last; /* of the owner: from the first member's birth to the last member's death */
};

/* Storage of every value of a prepared graph; p has its steps (kernels) chosen. storage[n_values]. */
void ig_find_storage(const struct ig_graph *g, const struct ig_view *views, const struct ig_plan *p,
                     struct ig_storage *storage);
/* Fills p->buffers, arena_bytes, arena_lower_bound_bytes. Offsets of constants stay -1 (weights.c knows
 * them). */
void ig_place_buffers(const struct ig_graph *g, const struct ig_view *views, struct ig_plan *p);

#endif
