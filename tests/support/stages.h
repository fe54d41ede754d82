/* A plan's arena as the packer sees it, and cut into two stages that run at the same time. */
#ifndef TESTS_SUPPORT_STAGES_H
#define TESTS_SUPPORT_STAGES_H

#include "planner/plan.h"

/* What lies in the arena: tensors with their lives, scratch of each step. items[n_buffers + n_steps]; how many. */
int32_t stage_items(const struct ig_plan *p, struct ig_pack_item *items);
/* Those of them that may overlap, by as much as their bands allow (planner/overlap.h); pairs[n_bands]. Returns how many. */
int32_t stage_pairs(const struct ig_graph *g, const struct ig_plan *p, struct ig_pack_pair *pairs);
/* May it be cut in front of step `at`: is all that crosses at most `rows` high, and no band cut? */
int stage_may_cut(const struct ig_graph *g, const struct ig_plan *p, int32_t at, int32_t rows);
/* Bytes of two stages that are cut there, each packed for itself with its own copy of what crosses. */
int64_t stage_bytes_at(const struct ig_graph *g, const struct ig_plan *p, int32_t at);
/* The same over all cuts where what crosses is at most `rows` high: the least and the most. */
void stage_bytes(const struct ig_graph *g, const struct ig_plan *p, int32_t rows, int64_t *least, int64_t *most);

#endif
