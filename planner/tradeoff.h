/* All good plans of a network between least memory and least time, and the one that constraints ask for. */
#ifndef PLANNER_TRADEOFF_H
#define PLANNER_TRADEOFF_H

#include "planner/segments.h"

struct ig_tradeoff_point {
    int64_t bytes;           /* arena and weights */
    int64_t arena_bytes, ns;
    int32_t lean;            /* ig_plan_options.lean of its kernels */
    uint8_t *leans;          /* [n_nodes] of each node's; NULL: the same */
    int32_t n_given;
    struct ig_band_timing *given;
};

struct ig_tradeoff {         /* by rising bytes and falling time */
    int32_t n;
    struct ig_tradeoff_point *at;
};

/*
 * The fronts of segments (options->algorithm) for the fastest kernels, for small ones, and for those of the least weights,
 * which may have little scratch in one segment and much in another; together. For each of these choices of kernels the
 * exact algorithm misses nothing. 0, or -1 with a line in err.
 */
int ig_tradeoff_make(const struct ig_graph *g, const struct ig_plan_options *options, struct ig_tradeoff *t,
                     char *err, size_t err_bytes);
/* As pareto.json, for so many threads, beside the plan that was chosen; NULL: none keeps the constraints. */
int ig_tradeoff_write(const struct ig_tradeoff *t, const struct ig_graph *g, const struct ig_plan *chosen,
                      int32_t threads, const char *path, char *err, size_t err_bytes);
void ig_tradeoff_free(struct ig_tradeoff *t);

/* The plan of one point of the front that these options make. */
struct ig_plan *ig_tradeoff_plan_at(const struct ig_graph *g, struct ig_plan_options o, const struct ig_tradeoff_point *at,
                                    char *err, size_t err_bytes);
/*
 * That plan with faster kernels for as many layers as `most` bytes of arena and weights allow (planner/refine.c): every
 * layer has its own then.
 */
struct ig_plan *ig_tradeoff_refine(const struct ig_graph *g, struct ig_plan_options o, const struct ig_tradeoff_point *at,
                                   int64_t most, char *err, size_t err_bytes);
/* The plan that ig_plan_make makes under a memory budget, or for least memory. */
struct ig_plan *ig_tradeoff_plan(const struct ig_graph *g, const struct ig_plan_options *options, char *err,
                                 size_t err_bytes);
/* One plan, as the options say, with no search for one that meets the constraints. */
struct ig_plan *ig_plan_once(const struct ig_graph *g, const struct ig_plan_options *options, char *err,
                             size_t err_bytes);

#endif
