/*
 * How others place buffers, to compare with: named algorithms on the packer's own problem. Algorithm 1 of Minakova
 * & Stefanov is in planner/app.h.
 */
#ifndef PLANNER_BASELINE_H
#define PLANNER_BASELINE_H

#include <stdint.h>

#include "planner/plan.h"

/*
 * "Greedy by size for offset calculation" (Pisarchyk & Lee 2020; TensorFlow Lite's arena planner): by falling size,
 * each item in the smallest gap between placed ones that it meets in time. Sets offsets; returns the height.
 */
int64_t ig_baseline_by_size(struct ig_pack_item *items, int32_t n);
/*
 * TVM's storage allocator (relay's graph_plan_memory): in the order of steps, each item takes the free token that
 * fits best, of at most 16 times its size; else it enlarges the largest smaller one, of at least a 16th; else a new
 * token. Returns the sum of the tokens' sizes.
 */
int64_t ig_baseline_best_fit(const struct ig_pack_item *items, int32_t n);
/*
 * Algorithm 1 of Minakova & Stefanov 2022 within one partition, items in the order given. Returns the sum of the
 * buffers' sizes.
 */
int64_t ig_baseline_reuse(const struct ig_pack_item *items, int32_t n);

#endif
