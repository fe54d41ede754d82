/*
 * Row overlap: what a band's last step writes may begin below what the band reads and nobody after it, and grow into it,
 * where rows keep the two apart. A step alone overlaps so as a band of one.
 */
#ifndef PLANNER_OVERLAP_H
#define PLANNER_OVERLAP_H

#include "planner/memory.h"

struct ig_overlap {          /* of a band */
    int32_t out, in;         /* owners in the arena: what is born there, what dies there; -1: none */
    int64_t distance;        /* bytes that `in` begins above `out`, or more; a multiple of IG_ALIGN, never 0 */
    int64_t gain;            /* bytes that both need less than side by side */
};

/* The overlap of the largest gain; out = -1 if there is none. storage[n_values] is p's with that band. */
struct ig_overlap ig_find_overlap(const struct ig_graph *g, const struct ig_view *views, const struct ig_plan *p,
                                  const struct ig_storage *storage, const struct ig_band *band);
/* Bytes less that are held in a step; 0 unless a band ends there that overlaps. */
int64_t ig_overlap_gain(const struct ig_overlap *overlaps, const struct ig_plan *p, int32_t step);

#endif
