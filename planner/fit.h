/* Measured times -> costs of a kernel family. */
#ifndef PLANNER_FIT_H
#define PLANNER_FIT_H

#include "planner/features.h"

struct ig_sample {
    double f[IG_FEATURES];
    double ns;
};

/*
 * The least sum of relative errors with costs >= 0, about (least squares, reweighted); that of work is at least work_ns, which the machine does not go
 * below: layers that are bound by something else tell nothing of it.
 */
void ig_fit(struct ig_cost *cost, const char *family, const struct ig_sample *samples, int32_t n, double work_ns);
/* What the costs say of features f, ns. */
double ig_fit_ns(const struct ig_cost *cost, const double *f);

#endif
