/* Inside the exploration: what one device can do with a run of nodes, as far as nothing else it can do is as good. */
#ifndef PLANNER_DEPLOY_EXPLORE_CHOICES_H
#define PLANNER_DEPLOY_EXPLORE_CHOICES_H

#include "planner/deploy/explore.h"

struct ig_choice {               /* one stage, or two, of nodes i .. k - 1 on one device */
    int64_t x[IG_EXPLORE_AXES];
    int64_t latency_ns;          /* stages and the hand-over between them */
    int16_t way[2], cut;         /* way[1] -1: one stage; else the second begins at node cut */
};

struct ig_choice_row {           /* of one run on a device of one kind */
    int64_t begin;
    int32_t n;
};

struct ig_choices {
    const struct ig_ranges *r;
    struct ig_choice *at;
    struct ig_choice_row *rows;  /* [n + 1][n + 1][n_kinds], of run i .. k - 1 at row k, column i */
    int32_t *low;                /* [n + 1] the least i of which run i .. k - 1 can be of use */
    int64_t *least_ns, *least_pj; /* [n + 1] sums of each node's least */
    int32_t by_latency;          /* 1: latency counts, too, when one choice is as good as another */
    int32_t halves;              /* 2: a device may have two stages; 1: one */
};

/*
 * What a deployment that is known beats cannot be part of one that it does not: all measures are those of the worst device.
 * So nothing is kept that is worse than one of them. Only runs that deployments on so many devices may have.
 */
void ig_choices_make(const struct ig_ranges *r, int32_t devices, int32_t halves, int32_t by_latency,
                     const struct ig_explore_front *known, struct ig_choices *c);
/* Drops what is worse than one of these. */
void ig_choices_filter(struct ig_choices *c, const struct ig_explore_front *known);
void ig_choices_free(struct ig_choices *c);
/* Those of the run on that kind; returns how many. */
static inline int32_t ig_choices_of(const struct ig_choices *c, int32_t i, int32_t k, int32_t kind,
                                    const struct ig_choice **at)
{
    const struct ig_choice_row *row = &c->rows[((int64_t)k * (c->r->x->n + 1) + i) * c->r->x->n_kinds + kind];
    *at = c->at + row->begin;
    return row->n;
}

#endif
