#include "planner/fit.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "planner/alloc.h"
#include "planner/nnls.h"

double ig_fit_ns(const struct ig_cost *cost, const double *f)
{
    double ns = 0;
    for (int j = 0; j < IG_FEATURES; j++) ns += cost->ns[j] * f[j];
    return ns;
}

void ig_fit(struct ig_cost *cost, const char *family, const struct ig_sample *samples, int32_t n, double work_ns)
{
    double *a = ig_must_alloc((size_t)n * IG_FEATURES, sizeof *a), *one = ig_must_alloc((size_t)n, sizeof *one);
    memset(cost, 0, sizeof *cost);
    snprintf(cost->family, sizeof cost->family, "%s", family);
    for (int32_t i = 0; i < n; i++) {
        one[i] = 1 - work_ns * samples[i].f[IG_F_WORK] / samples[i].ns;
        for (int j = 0; j < IG_FEATURES; j++) a[i * IG_FEATURES + j] = samples[i].f[j] / samples[i].ns;
    }
    ig_nnls(a, one, n, IG_FEATURES, cost->ns);
    cost->ns[IG_F_WORK] += work_ns;
    cost->layers = n;
    for (int32_t i = 0; i < n; i++) cost->error += fabs(ig_fit_ns(cost, samples[i].f) / samples[i].ns - 1) / n;
    free(a);
    free(one);
}
