/* What moving bytes costs, from measurements: t = x0 + k * bytes. */
#ifndef PLANNER_PIPE_TRANSFER_H
#define PLANNER_PIPE_TRANSFER_H

#include "planner/pipe.h"

struct ig_transfer_fit {
    struct ig_pipe_link link;
    double mean_error, worst_error; /* |fit - measured| / measured */
};
/*
 * Least squares of relative errors (weights 1/t^2), so that small sizes count as much as large ones. 0, or -1 with a
 * line in err: fewer than four sizes, a time that is not positive, one that falls with size, or a line that the points
 * are not on (mean error above 10 %): fit has it all the same.
 */
int ig_transfer_fit(const int64_t *bytes, const int64_t *ns, int32_t n, struct ig_transfer_fit *fit, char *err,
                    size_t err_bytes);

#endif
