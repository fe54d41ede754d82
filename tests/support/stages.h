/* A plan's arena as the packer sees it, and cut into two stages that run at the same time. */
#ifndef TESTS_SUPPORT_STAGES_H
#define TESTS_SUPPORT_STAGES_H

#include "planner/plan.h"

/* What lies in the arena: tensors with their lives, scratch of each step. items[n_buffers + n_steps]; how many. */
int32_t stage_items(const struct ig_plan *p, struct ig_pack_item *items);
/* Those of them that overlap in the plan, as much as they do; pairs[n_buffers]. Returns how many. */
int32_t stage_pairs(const struct ig_plan *p, struct ig_pack_pair *pairs);
/*
 * Bytes of two stages, each with its own slot for what crosses, over all cuts where that is at most `rows` high: the
 * least and the most of them. Bands are not cut.
 */
void stage_bytes(const struct ig_graph *g, const struct ig_plan *p, int32_t rows, int64_t *least, int64_t *most);

#endif
