/* What searches by NSGA-II (Deb 2002) share: non-dominated ranks, crowding, tournaments, numbers by chance. Integers only. */
#ifndef PLANNER_NSGA2_H
#define PLANNER_NSGA2_H

#include <stdint.h>

enum { IG_NSGA2_AXES = 3, IG_NSGA2_MOST = 256 };

struct ig_nsga2_one {
    void *genes;                 /* the search's own */
    int64_t x[IG_NSGA2_AXES];    /* what is to be small; 0 where there are fewer */
    int64_t wrong;               /* 0: it keeps all constraints; of two that do not, the smaller is better */
    int64_t crowding;            /* larger: lonelier */
    int32_t rank;                /* 0: beaten by nobody; 1: by those of rank 0 only; ... */
};

/* 0..n-1 of a stream that `state` begins (splitmix64; Steele, Lea & Flood 2014). */
uint64_t ig_draw(uint64_t *state, uint64_t n);
/* Ranks of n <= IG_NSGA2_MOST; then all in the order of ranks and x. */
void ig_nsga2_rank(struct ig_nsga2_one *all, int32_t n);
/* Ranks, crowding in millionths of the extent of all on each axis; then all from the best to the worst. */
void ig_nsga2_sort(struct ig_nsga2_one *all, int32_t n);
/* The better of two by chance of the first n. */
const struct ig_nsga2_one *ig_nsga2_pick(const struct ig_nsga2_one *all, int32_t n, uint64_t *state);

#endif
