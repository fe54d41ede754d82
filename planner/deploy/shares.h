/* How many rows each of several unequal devices gets, so that the slowest is as fast as it can be. */
#ifndef PLANNER_DEPLOY_SHARES_H
#define PLANNER_DEPLOY_SHARES_H

#include <stdint.h>

/* ns that device i takes for so many rows, what it waits for counted; grows with the rows. */
typedef double ig_rows_ns_fn(const void *context, int32_t device, int64_t rows);

/*
 * Shares out `extent` rows, each share but one a multiple of `step`, over n devices: the least time in which
 * all can be done is found by bisection, every device taking the most rows that it can do in it; rows that
 * are too many then are taken from whoever is slowest. sizes[n] >= 0 add up to extent. Returns that time.
 */
double ig_share_rows(int64_t extent, int64_t step, int32_t n, ig_rows_ns_fn *ns, const void *context, int64_t *sizes);

#endif
