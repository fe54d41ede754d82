/* Inside the planner: steps that may run by rows together, the rows that pass between them, and their rings. */
#ifndef PLANNER_BAND_H
#define PLANNER_BAND_H

#include "planner/plan.h"

struct ig_usage {            /* of a root: who touches its storage or any view of it */
    int32_t first, last;     /* steps; first > last: none */
    int may_ring;            /* are all its views the same rows and pixels, of some channels, and none the caller's? */
    int32_t values;          /* that lie in it */
};

/* Of every root, usage[n_values]. */
void ig_find_usage(const struct ig_graph *g, const struct ig_view *views, struct ig_usage *usage);
/* 1 if the storage of `root` is touched in steps first .. last alone, and can be a ring there. */
int ig_is_ring(const struct ig_usage *usage, int32_t root, int32_t first, int32_t last);

struct ig_part {             /* steps that can be one band */
    struct ig_flow flow;
    int32_t rows[IG_MAX_BAND], row_tile[IG_MAX_BAND]; /* of the member's output; of its kernel */
    int32_t ring[IG_MAX_BAND];                        /* that the member writes; -1: its output stays whole */
    int32_t source[IG_MAX_BAND][IG_MAX_FEEDS];        /* ring of the feed; -1: a tensor that stays whole */
    int32_t over[IG_MAX_BAND];                        /* feed whose ring the member may write its own rows over; -1 */
    int32_t n_rings;
    int32_t root[IG_MAX_BAND];                        /* of a ring: whose storage it is; others' may be written over it */
    uint32_t writers[IG_MAX_BAND];                    /* of a ring: members, a bit each */
    int64_t row_bytes[IG_MAX_BAND];                   /* of a ring */
    int64_t scratch_bytes;                            /* the neediest kernel's */
};

/* Steps first .. last as a part: 1, or 0 if they cannot run by rows. The kernels of p's steps are chosen. */
int ig_part_make(const struct ig_graph *g, const struct ig_view *views, const struct ig_usage *usage,
                 const struct ig_plan *p, int32_t first, int32_t last, struct ig_part *part);
/* The same, of a band, for those who ask but once. */
int ig_part_of(const struct ig_graph *g, const struct ig_view *views, const struct ig_plan *p, const struct ig_band *b,
               struct ig_part *part);
/* Does each member but the first read what the one before it writes, and nobody else, and only the last's stays? */
int ig_part_is_chain(const struct ig_part *part);
/* May pieces of the last member's rows be computed without each other? Not where another's output stays too. */
int ig_part_is_divisible(const struct ig_part *part);
int32_t ig_part_rows(const struct ig_part *part); /* of the last member's output */
int32_t ig_part_tile(const struct ig_part *part); /* of the last member's kernel */
/* Is the timing of what the plan would run as this part? */
int ig_part_suits(const struct ig_part *part, const struct ig_plan *p, const struct ig_band_timing *t);

/* --- phases: planner/phases.c --- */

/* Rows of the rings, by going through all phases of all chunks; rings[part->n_rings]. */
void ig_part_rings(const struct ig_part *part, int32_t rows, int32_t chunk, int32_t *rings);
/*
 * 1 if the last member, where all is one chunk, never writes a row that another is still to read: reach[n] of the
 * members into what is written over, mul 0: they do not read it.
 */
int ig_part_trails(const struct ig_part *part, const struct ig_reach *reach, int32_t rows);
/* Rows that member 0, 1, ... computes in all, rows that two chunks need counted twice; computed[n]. */
void ig_part_work(const struct ig_part *part, int32_t rows, int32_t chunk, int64_t *computed);
struct ig_ring_life {        /* of a ring: the firings between which it holds rows that are still read */
    int32_t rows;            /* of its tensor */
    int32_t *first, *last;   /* [rows] firings; first is to be -1 */
    uint64_t *busy;          /* a bit for each firing */
};
/*
 * Rows of the rings, and the bits of lives[n_rings]; there are at most as many firings as rows computed. Returns the
 * members, a bit each, whose rows nobody but them reads in over's ring any more when they are made.
 */
uint32_t ig_part_lives(const struct ig_part *part, int32_t rows, int32_t chunk, int32_t *rings,
                       struct ig_ring_life *lives);
struct ig_firing {
    int32_t member, rows;    /* of the part; that it computes */
    int32_t end;             /* where they end */
};
/* All calls of a part's kernels by one thread, in order, to be freed; *n: how many. */
struct ig_firing *ig_part_firings(const struct ig_part *part, int32_t rows, int32_t chunk, int32_t *n);

/* --- scratch: planner/rings.c, planner/scratch.c --- */

/*
 * Scratch of a part run by phases of `rows`, in chunks: rings behind what its kernels need, those in the same place that
 * are never in use at the same time; offset[n_rings]: of each ring. Where it takes less, rings that a member may write
 * its rows over become one with its own, so that the part has fewer then.
 */
int64_t ig_part_scratch(struct ig_part *part, int32_t rows, int32_t chunk, int32_t *rings, int64_t *offset);
/* scratch_bytes of every step and of p: what kernels need, bands with their rings. */
void ig_measure_scratch(const struct ig_graph *g, const struct ig_view *views, struct ig_plan *p);
/* Sizes and places the rings: values, memory, offsets, views. */
void ig_place_rings(const struct ig_graph *g, const struct ig_view *views, struct ig_plan *p);

/* --- the rest --- */

/* How a ring of v lies in memory: as it is placed, else pixels an odd number of cache lines apart where they are that long,
 * or dense. */
struct ig_view ig_ring_view(const struct ig_graph *g, const struct ig_plan *p, int32_t v);
/* Time of every step, times[n_steps]: its own index, or its band's last step. */
void ig_step_times(const struct ig_plan *p, int32_t *times);
/* Chooses p->bands and the cuts of their last steps; predictions follow. */
void ig_choose_bands(const struct ig_graph *g, const struct ig_view *views,
                     const struct ig_plan_options *options, struct ig_plan *p);

#endif
