/*
 * Refinement (ALOHA, section VI-B, Steps 1-4): a computational tensor ordered, unrolled over the processor's lanes,
 * with its data transfers placed and its loops tiled until every buffer fits its memory.
 */
#ifndef PLANNER_NEST_H
#define PLANNER_NEST_H

#include "planner/layer.h"

struct ig_nest {
    const struct ig_layer *layer;
    const struct ig_platform *board;
    const struct ig_processor *pe;
    int64_t p[IG_LOOPS];      /* lanes of loop d; 1 where it is fused */
    int64_t t0[IG_LOOPS];     /* temporal steps of all of it: ceil(n/p) */
    int64_t t[IG_LOOPS];      /* temporal steps of a tile */
    int64_t tiles[IG_LOOPS];  /* outermost tile loop, 1: none */
    int64_t last[IG_LOOPS];   /* steps of the last tile: 1 <= last <= t */
    int32_t level[IG_LOOPS];  /* 0: outermost; a fused pair has the outer one's */
    int32_t fused[2];         /* the fused loops, or IG_LOOPS */
    int64_t fused_lanes;      /* 1: none */
    int32_t not_limitable;    /* bit of a role: its buffer exceeds the memory, but its loop does not index it */
    int32_t infeasible;       /* enum ig_role whose buffer fits with no tile; IG_ROLES: none */
};

/* Steps 1-4. The layer and the board must outlive the nest. Returns nest->infeasible == IG_ROLES. */
int ig_nest_refine(struct ig_nest *nest, const struct ig_layer *l, const struct ig_platform *b,
                   const struct ig_processor *pe);
/* Steps 1-3: no tiles. */
void ig_nest_start(struct ig_nest *nest, const struct ig_layer *l, const struct ig_platform *b,
                   const struct ig_processor *pe);
/* Cuts loop d in tiles of at most `steps` temporal steps, evenly; 1 <= steps <= t0. */
void ig_nest_tile(struct ig_nest *nest, int d, int64_t steps);
/*
 * Instead of Step 4: of all tilings of the loops in `mask` (bits of enum ig_loop) whose buffers fit, the one with the
 * least time, then the fewest bytes moved. 1 if there is one; else the nest is as ig_nest_refine leaves it.
 */
int ig_nest_best(struct ig_nest *nest, const struct ig_layer *l, const struct ig_platform *b,
                 const struct ig_processor *pe, int mask);

/* Elements of tensor `role` along loop d of its copy, with `steps` temporal steps of d in a tile. */
int64_t ig_nest_extent(const struct ig_nest *nest, int role, int d, int64_t steps);
/* Bytes of the copy of tensor `role` in a full tile; a tile of t[] steps. */
int64_t ig_nest_bytes(const struct ig_nest *nest, int role);
int64_t ig_nest_bytes_of(const struct ig_nest *nest, int role, const int64_t *t);
/* Bytes moved in all (Equation 7). */
int64_t ig_nest_traffic(const struct ig_nest *nest, int role);
/* OPS_re: operations with what lanes and, where loops are fused, tiles round up. */
int64_t ig_nest_ops(const struct ig_nest *nest);
/* 1 if every copy that its loop can limit fits its memory. */
int ig_nest_fits(const struct ig_nest *nest);
/* Rows and columns of X or Y under an extent of window positions and kernel elements. */
int64_t ig_nest_span(const struct ig_nest *nest, int positions, int64_t ext, int64_t kernel);

#endif
