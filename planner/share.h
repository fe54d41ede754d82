/*
 * Several networks, or several stages of one, in one arena. Those that never run at the same time share it: the
 * arena is the largest of theirs. Every tensor of one that runs meets every tensor of another that runs beside it,
 * so stages are stacked, which is optimal when each of them is. What runs in turn on one timeline is packed as one.
 */
#ifndef PLANNER_SHARE_H
#define PLANNER_SHARE_H

#include <stdint.h>

#include "planner/plan.h"

/* Arena of networks that never run at the same time. */
int64_t ig_share_alternate(const int64_t *arena_bytes, int32_t n);
/* Arena of stages (or slots) that run at the same time; base[n]: where each one's lies, aligned. */
int64_t ig_share_stack(const int64_t *arena_bytes, int32_t n, int64_t *base);
/*
 * Arena of networks of which some run at the same time: bit k of beside[i] says that i and k may (symmetric; n at most 64).
 * base[n]: where each one's lies, aligned, no two of those meeting. All orders of placing each as low as it may are tried,
 * the largest first, for a fixed number of steps: the least arena for up to seven networks.
 */
int64_t ig_share_beside(const int64_t *arena_bytes, const uint64_t *beside, int32_t n, int64_t *base);
/*
 * Moves the lives of `items` behind what is on the timeline already, which is `steps` long; returns the new length.
 * Pack all chained items at once then.
 */
int32_t ig_share_chain(struct ig_pack_item *items, int32_t n, int32_t steps, int32_t own_steps);

#endif
