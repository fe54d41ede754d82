/*
 * Inside the exploration: the dynamic programme over (nodes done, devices used of each kind), within limits of all measures.
 *
 * Few runs of nodes are looked at: only where devices are left for what is in front of a run and behind it, by bounds that
 * the limits set (`need`).
 */
#ifndef PLANNER_DEPLOY_EXPLORE_SEARCH_H
#define PLANNER_DEPLOY_EXPLORE_SEARCH_H

#include "planner/deploy/explore_choices.h"

#define IG_SEARCH_NONE INT64_MAX

struct ig_search {
    struct ig_choices *c;
    const struct ig_explore *x;
    int32_t n_states;                    /* of devices used: mixed radix of the kinds */
    int32_t stride[IG_EXPLORE_KINDS];
    int64_t *value;                      /* [n + 1][n_states][n_kinds] kind of the last device */
    int32_t *before;                     /* the same: the cell that it was reached from */
    struct ig_search_step *steps;        /* the same, of least sums */
    int32_t *cuts, n_cuts;               /* nodes before which the last solve could cut: 0, ..., n */
    int32_t devices, *live;              /* at most; [n + 1] the fewest that the nodes up to there have a place on */
    int64_t *reached;                    /* [n + 1] the least value of any cell there */
    int32_t *need;                       /* [n + 1] no fewer have a place for the nodes from there on */
    int32_t *used;                       /* [n_states] devices */
    uint8_t *room;                       /* [n_states][n_kinds] 1: one more device of the kind may be used */
    int64_t *links;                      /* [n_kinds][n_kinds][n + 1] ns from device to device in front of that node */
    int64_t solves, cells;
};

struct ig_search_step {
    int64_t sum, second;                 /* IG_SEARCH_NONE: not reached */
    int32_t from, state, kind;           /* of the device before */
    int64_t by;                          /* number of the choice */
};

struct ig_search_limits {
    int64_t x[IG_EXPLORE_AXES];
};

/* Over deployments on so many devices at most. */
void ig_search_begin(struct ig_search *s, struct ig_choices *c, int32_t devices);
void ig_search_end(struct ig_search *s);
/* The limit of that measure becomes no wider than what a known deployment within the limits takes. */
void ig_search_use_known(const struct ig_search *s, int32_t axis, struct ig_search_limits *l);
/*
 * Makes the limit of that measure the least among deployments within the limits; 0: there is none. Then that of `next`,
 * unless it is -1, becomes what the deployment that was found can do with. *devices: the fewest that it takes.
 */
int ig_search_tighten(struct ig_search *s, int32_t axis, int32_t next, struct ig_search_limits *l, int32_t *devices);
/*
 * Of the deployments within the limits that of the least energy in all, then latency, or the other way round; fewest: of
 * those on the fewest devices. 0, or -1: there is none.
 */
int ig_search_best(struct ig_search *s, const struct ig_search_limits *l, int32_t by_energy, int32_t fewest,
                   struct ig_explore_point *p);

#endif
