/* Inside the planner: chains of steps that may run by rows, and the rings between them. */
#ifndef PLANNER_BAND_H
#define PLANNER_BAND_H

#include "planner/plan.h"

struct ig_chain { /* steps that can be one band */
    int32_t n;
    int32_t step[IG_MAX_BAND];
    int32_t rows[IG_MAX_BAND], row_tile[IG_MAX_BAND]; /* of the step's output; of its kernel */
    struct ig_reach reach[IG_MAX_BAND]; /* of a step but the first, into the output of the one before */
    int64_t row_bytes[IG_MAX_BAND];     /* of the ring that the step's output would be */
    int64_t scratch_bytes;              /* the neediest kernel's */
};

/* The step that reads what `step` writes, where a band may go on from the one to the other; -1: none. */
int32_t ig_chain_next(const struct ig_graph *g, const struct ig_view *views, const struct ig_plan *p,
                      int32_t step);
/* Steps first .. last as a chain: 1, or 0 if they are none. The kernels of p's steps are chosen. */
int ig_chain_make(const struct ig_graph *g, const struct ig_view *views, const struct ig_plan *p,
                  int32_t first, int32_t last, struct ig_chain *chain);
/* Rows of the rings behind all steps but the last, by going through all phases of all chunks;
 * rings[chain->n]. */
void ig_chain_rings(const struct ig_chain *chain, int32_t rows, int32_t chunk, int32_t *rings);
/*
 * 1 if the last member, where all is one chunk, never writes a row that the first is still to read, by that reach: then
 * it may write over what the first reads.
 */
int ig_chain_trails(const struct ig_chain *chain, const struct ig_reach *reach, int32_t rows);
/* Rows that member 0, 1, ... computes in all, rows that two chunks need twice counted twice;
 * computed[chain->n]. */
void ig_chain_work(const struct ig_chain *chain, int32_t rows, int32_t chunk, int64_t *computed);
struct ig_firing {
    int32_t member, rows;    /* of the chain; that it computes */
};
/* All calls of a chain's kernels by one thread, in order, to be freed; *n: how many. */
struct ig_firing *ig_chain_firings(const struct ig_chain *chain, int32_t rows, int32_t chunk, int32_t *n);
/* How a ring of v lies in memory: pixels an odd number of cache lines apart where they are that long, or dense. */
struct ig_view ig_ring_view(const struct ig_graph *g, const struct ig_plan *p, int32_t v);
/* Time of every step, times[n_steps]: its own index, or its band's last step. */
void ig_step_times(const struct ig_graph *g, const struct ig_plan *p, int32_t *times);
/* Chooses p->bands and the cuts of their last steps; predictions follow. */
void ig_choose_bands(const struct ig_graph *g, const struct ig_view *views,
                     const struct ig_plan_options *options, struct ig_plan *p);
/* scratch_bytes of every step and of p: what kernels need, bands with their rings. */
void ig_measure_scratch(const struct ig_graph *g, const struct ig_view *views, struct ig_plan *p);
/* Scratch of a chain run by phases of `rows`, in chunks: rings behind what its kernels need; offset[chain->n]: of each
 * ring. */
int64_t ig_chain_scratch(const struct ig_chain *chain, int32_t rows, int32_t chunk, int32_t *rings, int64_t *offset);
/* Sizes and places the rings: values, memory, offsets, views. */
void ig_place_rings(const struct ig_graph *g, const struct ig_view *views, struct ig_plan *p);

#endif
