/* Ideals of a network: sets of nodes that hold all predecessors of theirs, between which a pipeline can be cut. */
#ifndef PLANNER_PIPE_IDEALS_H
#define PLANNER_PIPE_IDEALS_H

#include "planner/pipe.h"

struct ig_ideals {
    const struct ig_pipe *p;
    int32_t n, words;             /* ideals, by size, then by their bits; 64-bit words of each */
    uint64_t *bits;               /* [n][words] bit v: node v is in it; the first is empty, the last holds all */
    int64_t *ns;                  /* [n][n_processors] sum of its nodes' times */
    int32_t *readers;             /* [n] of its nodes, how many read the frame */
    int32_t *front_first, *front; /* nodes of ideal i that are read outside it, or are outputs:
                                     front[front_first[i]..front_first[i + 1]) */
    int32_t *succ_first, *succ;   /* the network's edges forwards */
};

/* 0, or -1 if there are more than `most` (nothing to free then). Those in order are n + 1: the prefixes. */
int ig_ideals_make(const struct ig_pipe *p, int32_t most, struct ig_ideals *x);
void ig_ideals_free(struct ig_ideals *x);
static inline int ig_ideal_has(const struct ig_ideals *x, int32_t ideal, int32_t v)
{
    return x->bits[(int64_t)ideal * x->words + v / 64] >> v % 64 & 1;
}
/* 1 if ideal a is part of ideal b. */
int ig_ideal_within(const struct ig_ideals *x, int32_t a, int32_t b);
/* ns of the nodes of b that are not in a, as one stage on processor k, its transfers included; *moved: bytes loaded. */
int64_t ig_ideal_stage(const struct ig_ideals *x, int32_t a, int32_t b, int32_t k, int64_t *moved);
/* Stage s of the plan: the nodes of b that are not in a, on processor k. */
void ig_ideal_put(const struct ig_ideals *x, int32_t a, int32_t b, int32_t k, int32_t s, struct ig_pipe_plan *plan);

#endif
