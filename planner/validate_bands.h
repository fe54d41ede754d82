/* The validator's view of bands: chains found anew in the graph, rings proven by running them in the shadow.
 */
#ifndef PLANNER_VALIDATE_BANDS_H
#define PLANNER_VALIDATE_BANDS_H

#include "planner/plan.h"

struct ig_walked { /* a band as the graph has it */
    int32_t n;     /* members; 0: the steps between first and last are no chain */
    int32_t step[IG_MAX_BAND];
    int32_t value[IG_MAX_BAND];   /* what the member writes */
    int32_t operand[IG_MAX_BAND]; /* of the member, through which it reads the value before */
};

/* Each step but the last writes one value that only the next one reads, once. */
struct ig_walked ig_walk_band(const struct ig_graph *g, const struct ig_plan *p, const struct ig_band *b);
/* The band that each step is in, of[n_steps]; -1: none. Returns the first band that is no chain or meets
 * another, or -1. */
int32_t ig_walk_bands(const struct ig_graph *g, const struct ig_plan *p, int32_t *of);
/* 1 if v is handed on inside a band. */
int ig_is_inner(const struct ig_graph *g, const struct ig_plan *p, const int32_t *of, int32_t v);
/* Bytes that a ring must have; -1: its rows or pixels overlap. */
int64_t ig_ring_bytes(const struct ig_graph *g, const struct ig_plan_buffer *b);
/* Scratch that a band needs, calls[n_steps]. *clash: a ring that meets another or the kernels' own scratch;
 * -1: none. */
int64_t ig_band_scratch(const struct ig_graph *g, const struct ig_plan *p, const struct ig_band *b,
                        const struct ig_call *calls, int32_t *clash);
/*
 * Runs a band's phases with rows that carry their numbers; calls[n_steps]. Returns the value of which a row
 * is read that is not in its ring any more (or not yet), -1 if there is none, -2 if the band cannot be run by
 * such phases.
 */
int32_t ig_replay_band(const struct ig_graph *g, const struct ig_plan *p, const struct ig_band *b,
                       const struct ig_call *calls);

#endif
