/* Inside the exploration: what one device can do with a run of nodes, as far as nothing else it can do is as good. */
#ifndef PLANNER_DEPLOY_EXPLORE_CHOICES_H
#define PLANNER_DEPLOY_EXPLORE_CHOICES_H

#include "planner/deploy/explore_bounds.h"

struct ig_choice {               /* one stage, or two, of nodes i .. k - 1 on one device */
    int64_t x[IG_EXPLORE_AXES];
    int64_t latency_ns;          /* stages and the hand-over between them */
    int16_t way[2], cut;         /* way[1] -1: one stage; else the second begins at node cut */
};

struct ig_choice_row {           /* of one run on a device of one kind */
    int64_t begin;
    int32_t n;                   /* 0: not looked at yet; else one more than there are */
    int64_t least[IG_EXPLORE_AXES]; /* of all that there are, each by itself */
};

struct ig_choices {              /* of the runs that were asked for */
    const struct ig_ranges *r;
    struct ig_bounds bounds;
    struct ig_choice *at;
    int64_t n, room;
    struct ig_choice_row *rows;  /* [n + 1][n + 1][n_kinds], of run i .. k - 1 at row k, column i */
    int32_t *low;                /* [n + 1] the least i of which run i .. k - 1 can be of use, as far as is known */
    int64_t *between;            /* [n_kinds][n + 1] ns from one stage to the other of a device, in front of that node */
    int64_t *receive, *send;     /* [n_ways][n + 1] ns that messages take of cores of a run that begins there, or ends */
    int64_t (*known)[IG_EXPLORE_AXES]; /* of deployments, by rising time */
    int32_t n_known, last;       /* the one that was better last time is asked first */
    int16_t *small;              /* [n + 1] a list for the run that is looked at */
    int64_t priced;              /* choices that were looked at */
};

/* Of deployments on so many devices at most. */
void ig_choices_begin(const struct ig_ranges *r, int32_t halves, int32_t devices, struct ig_choices *c);
/*
 * What a deployment that is known beats cannot be part of one that it does not: all measures are those of the worst device.
 * So from now on nothing is kept that is worse than one of these.
 */
void ig_choices_know(struct ig_choices *c, const struct ig_explore_front *known);
/*
 * Looks at run i .. k - 1. What is less than the rest of a deployment takes at least counts as that, so that few differ.
 */
void ig_choices_make(struct ig_choices *c, int32_t i, int32_t k);
/*
 * Of all that a device of the kind can do with that run within limits, as it is, the one of the least energy, then latency,
 * or the other way round. 0: there is none.
 */
int ig_choices_least(struct ig_choices *c, int32_t i, int32_t k, int32_t kind, const int64_t *limits, int32_t by_energy,
                     struct ig_choice *best);
void ig_choices_free(struct ig_choices *c);

/* From its `begin` on choices stand by rising time. */
static inline const struct ig_choice_row *ig_choices_row(const struct ig_choices *c, int32_t i, int32_t k, int32_t kind)
{
    return &c->rows[((int64_t)k * (c->r->x->n + 1) + i) * c->r->x->n_kinds + kind];
}

/* Has that run been looked at? */
static inline int ig_choices_made(const struct ig_choices *c, int32_t i, int32_t k)
{
    return ig_choices_row(c, i, k, 0)->n != 0;
}

#endif
