/* Inside the exploration: what no device can do with less than, for a run of nodes; a longer run never needs less. */
#ifndef PLANNER_DEPLOY_EXPLORE_BOUNDS_H
#define PLANNER_DEPLOY_EXPLORE_BOUNDS_H

#include "planner/deploy/explore.h"

struct ig_bounds {
    const struct ig_ranges *r;
    int32_t halves;              /* stages that a device may have: 1 or 2 */
    int32_t devices;             /* at most, of all kinds */
    int32_t n_pairs;             /* of ways that two stages of one device may have; in order */
    int16_t (*pairs)[2];
    int64_t (*of)[IG_EXPLORE_AXES]; /* [n + 1][n + 1] of runs i .. k - 1, row k, column i: the least, each by itself */
    int64_t *pj;                 /* [n_ways][n + 1] sums up to there, of a node that cannot run: more than of any */
    int64_t *dips;               /* [levels][n_pairs][n + 1] the least of 2^level differences of two ways' sums from there */
    uint8_t *level;              /* [n + 1] of so many: 2^level is no more */
    int64_t *held, *turned;      /* [n + 1][n + 1] least bytes of one stage beside weights: row i, column k; the other way */
    int64_t *two;                /* [n + 1][n + 1] least bytes of two stages, row k, column i; INT64_MAX: there are none */
    int64_t *link;               /* [n + 1] the least ns from a device to another in front of that node; 0 at both ends */
    int64_t (*front)[IG_EXPLORE_AXES]; /* [devices + 1][n + 1] the least of the worst of so many devices at most that have
                                          the nodes up to there; INT64_MAX: they cannot */
    int64_t (*back)[IG_EXPLORE_AXES]; /* the same from there on */
};

void ig_bounds_make(const struct ig_ranges *r, int32_t halves, int32_t devices, struct ig_bounds *b);
void ig_bounds_free(struct ig_bounds *b);
/* No deployment that has nodes i .. k - 1 on one device can do with less: of other devices and links. */
void ig_bounds_rest(const struct ig_bounds *b, int32_t i, int32_t k, int64_t x[IG_EXPLORE_AXES]);
/* The least pJ of the run on that pair of ways, with a node between its first and its last that the second begins with. */
int64_t ig_bounds_two_pj(const struct ig_bounds *b, int32_t pair, int32_t i, int32_t k);
/* Of nodes i .. k - 1, at least one: the least of each measure, each by itself. */
static inline const int64_t *ig_bounds_of(const struct ig_bounds *b, int32_t i, int32_t k)
{
    return b->of[(int64_t)k * (b->r->x->n + 1) + i];
}

#endif
