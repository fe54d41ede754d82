/*
 * Inside the exploration: the dynamic programme over (nodes done, devices used of each kind), within limits of all measures.
 *
 * Few runs of nodes are looked at: only where devices are left for what is in front of a run and behind it, by bounds that
 * the limits set (`reach`, `need`).
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
    int32_t *fewest;                     /* [n_cuts] the least of `live` from that cut on, up to where a solve has come */
    int64_t *reached;                    /* [n + 1] the least value of any cell there */
    int32_t *reach, *need;               /* [n + 1] no fewer have a place for the nodes up to there; from there on */
    int32_t *used;                       /* [n_states] devices */
    uint8_t *room;                       /* [n_states][n_kinds] 1: one more device of the kind may be used */
    int64_t *links;                      /* [n_kinds][n_kinds][n + 1] ns from device to device in front of that node */
    int64_t solves, cells;
};

struct ig_search_step {
    int64_t sum, second;                 /* IG_SEARCH_NONE: not reached */
    int32_t from, state, kind;           /* of the device before */
    int16_t way[2], cut;                 /* as of a choice */
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
 * Makes the limit of that measure the least among deployments within the limits; 0: there is none, which may not be if
 * is_there. Then that of `next`, unless it is -1, becomes no wider than what the deployment that was found can do with.
 */
int ig_search_tighten(struct ig_search *s, int32_t axis, int32_t next, int32_t is_there, struct ig_search_limits *l);

/* --- planner/deploy/explore_alike.c --- */

/* All cells within the limits, of devices of one kind; values below `floor` count as that. */
void ig_search_solve_alike(struct ig_search *s, int32_t axis, int64_t floor, const struct ig_search_limits *l);

/* --- planner/deploy/explore_sums.c --- */

/*
 * Of the deployments within the limits that of the least energy in all, then latency, or the other way round; fewest: of
 * those on the fewest devices. 0, or -1: there is none.
 */
int ig_search_best(struct ig_search *s, const struct ig_search_limits *l, int32_t by_energy, int32_t fewest,
                   struct ig_explore_point *p);

/* --- what these share --- */

/* Where may be cut within the limits, and which devices that takes. 0: there are not enough. */
int ig_search_cuts(struct ig_search *s, const struct ig_search_limits *l);
/* The first cut from `first` on of which a run to cut `at` may be within the limits: `at` if none may. */
int32_t ig_search_first(const struct ig_search *s, int32_t first, int32_t at, const struct ig_search_limits *l);
/* The least of that measure that a device of the kind needs for a run that was looked at, or what is at most `enough`. */
int64_t ig_search_least(const struct ig_search *s, int32_t i, int32_t k, int32_t kind, int32_t axis, int64_t enough,
                        const struct ig_search_limits *l);

static inline int64_t ig_search_link(const struct ig_search *s, int32_t cut, int32_t from, int32_t to)
{
    return s->links[(from * s->x->n_kinds + to) * (s->x->n + 1) + cut];
}

static inline int ig_search_keeps(const int64_t *x, const struct ig_search_limits *l)
{
    return x[0] <= l->x[0] && x[1] <= l->x[1] && x[2] <= l->x[2];
}

/* May the run between those cuts be within the limits, whatever it is computed on? */
static inline int ig_search_may_run(const struct ig_search *s, int32_t first, int32_t end, const struct ig_search_limits *l)
{
    return ig_search_keeps(ig_bounds_of(&s->c->bounds, s->cuts[first], s->cuts[end]), l);
}

/* Are there devices for that run, the nodes in front of it and those behind it? */
static inline int ig_search_has_place(const struct ig_search *s, int32_t i, int32_t k)
{
    return s->live[i] + 1 + s->need[k] <= s->devices;
}

/* May one more device, of that kind, take a run that ends in front of node k? */
static inline int ig_search_may_follow(const struct ig_search *s, int32_t state, int32_t kind, int32_t k)
{
    return s->room[state * s->x->n_kinds + kind] && s->used[state] + 1 + s->need[k] <= s->devices;
}

/* Looks at a run unless that was done. */
static inline void ig_search_look(struct ig_search *s, int32_t i, int32_t k)
{
    if (!ig_choices_made(s->c, i, k)) ig_choices_make(s->c, i, k);
    s->cells++;
}

#endif
