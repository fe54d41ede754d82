/* The validator's view of bands: who feeds whom found anew in the graph, rings proven by running them in the shadow. */
#ifndef PLANNER_VALIDATE_BANDS_H
#define PLANNER_VALIDATE_BANDS_H

#include "planner/plan.h"

struct ig_walked { /* a band as the graph has it */
    int32_t n;     /* members; 0: the steps from first to last are no band */
    int32_t step[IG_MAX_BAND];
    int32_t value[IG_MAX_BAND]; /* what the member writes */
};

/* The steps that run something; each must write one value. One step alone is a band, too. */
struct ig_walked ig_walk_band(const struct ig_graph *g, const struct ig_plan *p, const struct ig_band *b);
/* The band that each step is in, of[n_steps]; -1: none. Returns the first that is no band or meets another, or -1. */
int32_t ig_walk_bands(const struct ig_graph *g, const struct ig_plan *p, int32_t *of);
/* 1 if only steps of one band write or read v, and the caller does not: then it may be a ring. */
int ig_is_inner(const struct ig_graph *g, const struct ig_plan *p, const int32_t *of, int32_t v);
/* 1 if v is some channels of the rows of the ring `owner`. */
int ig_is_in_ring(const struct ig_graph *g, const struct ig_plan *p, int32_t v, int32_t owner);
/* Bytes that a ring must have; -1: its rows or pixels overlap. */
int64_t ig_ring_bytes(const struct ig_graph *g, const struct ig_plan_buffer *b);
/* Scratch that a band needs, calls[n_steps]. *clash: a ring that meets the kernels' own scratch; -1: none. Rings that
 * meet each other are for the replay to judge. */
int64_t ig_band_scratch(const struct ig_graph *g, const struct ig_plan *p, const struct ig_band *b,
                        const struct ig_call *calls, int32_t *clash);
/*
 * The values that v is made of without anything being moved: itself, or through steps that run nothing what those were
 * given. Adds them to list[n_values], which has n; returns how many there are then.
 */
int32_t ig_pieces_of(const struct ig_graph *g, const struct ig_plan *p, int32_t v, int32_t *list, int32_t n);
/* Can its steps go by rows at all, by their kernels, shapes and windows? calls[n_steps]. */
int ig_band_can_run(const struct ig_graph *g, const struct ig_plan *p, const struct ig_band *b,
                    const struct ig_call *calls);

struct ig_row_fault { /* what is wrong with the rows of a tensor */
    int verdict;      /* IG_PLAN_OK, IG_PHASE_GAP, IG_PHASE_TWICE, IG_READ_UNWRITTEN or IG_READ_OVERWRITTEN */
    int32_t step;     /* that does not make the row, makes it again, or misses it */
    int32_t value, row;
};

/*
 * Runs all phases of all pieces of a band that can run, with rows that carry their numbers; calls[n_steps]. The fault
 * whose verdict comes first, the first of these.
 */
struct ig_row_fault ig_replay_band(const struct ig_graph *g, const struct ig_plan *p, const struct ig_band *b,
                                   const struct ig_call *calls);
/*
 * By that run: how many bytes the storage of `in` must begin above that of the last step's output, at the least, for no
 * row to be written over that is still to be read, if the band is not cut; -1: none would do.
 */
int64_t ig_replay_distance(const struct ig_graph *g, const struct ig_plan *p, const struct ig_band *b,
                           const struct ig_call *calls, int32_t in);

#endif
