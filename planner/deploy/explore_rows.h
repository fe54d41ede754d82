/*
 * Deployments in which a stage may be split by rows over a group of devices of one kind, each computing on as many cores. A
 * node that can be split takes as long as its largest part and what that part is sent of rows that others make; one that
 * cannot runs whole on the group's first device, to which the parts of what it reads go. No deployment has groups of two
 * sizes; of these, and of those without groups, the front is exact.
 */
#ifndef PLANNER_DEPLOY_EXPLORE_ROWS_H
#define PLANNER_DEPLOY_EXPLORE_ROWS_H

#include "kernels_cpu/reach.h"
#include "planner/deploy/explore_net.h"

enum { IG_EXPLORE_GROUP = 8 }; /* devices of a group at most */

struct ig_explore_split {        /* of a node, by how many parts it has */
    int32_t rows;                /* of its output; 0: it cannot be split */
    int32_t most[IG_EXPLORE_GROUP + 1]; /* rows of the largest part; 0: not into so many */
    int32_t messages[IG_EXPLORE_GROUP + 1]; /* from other parts, to the one that waits for most bytes */
    int64_t bytes[IG_EXPLORE_GROUP + 1]; /* in them */
};

/*
 * ig_explore_all with groups of up to `devices`; split[n]. Of a stage on a group, memory counts as if each device had whole
 * tensors.
 */
void ig_explore_rows(const struct ig_ranges *r, const struct ig_explore_split *split, int32_t devices,
                     struct ig_explore_front *f);

/*
 * How the segments of a network split by rows, in whole tiles of their kernels, so that --exact may have it; layers: 1 for
 * each node of the graph that computes a layer of the file. free() takes it.
 */
struct ig_explore_split *ig_explore_splits(const struct ig_graph *g, const struct ig_explore_net *e, const uint8_t *layers);
/* Rows of part i of n, in whole steps. */
struct ig_rows ig_explore_part(int32_t rows, int32_t step, int32_t i, int32_t n);

#endif
