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

/* Rows scaled so that squares become about absolute values: a disturbed layer counts no more than another. */
static void reweigh(const struct ig_sample *s, int32_t n, const struct ig_cost *cost, double *weight)
{
    static const double least = 0.01; /* of a relative error */
    for (int32_t i = 0; i < n; i++) weight[i] = 1 / sqrt(fmax(least, fabs(ig_fit_ns(cost, s[i].f) / s[i].ns - 1)));
}

void ig_fit(struct ig_cost *cost, const char *family, const struct ig_sample *samples, int32_t n, double work_ns)
{
    enum { ROUNDS = 12 };
    double *a = ig_must_alloc((size_t)n * IG_FEATURES, sizeof *a), *b = ig_must_alloc((size_t)n, sizeof *b);
    double *weight = ig_must_alloc((size_t)n, sizeof *weight);
    memset(cost, 0, sizeof *cost);
    snprintf(cost->family, sizeof cost->family, "%s", family);
    for (int32_t i = 0; i < n; i++) weight[i] = 1;
    for (int round = 0; round < ROUNDS; round++) {
        for (int32_t i = 0; i < n; i++) {
            const struct ig_sample *s = &samples[i];
            b[i] = weight[i] * (1 - work_ns * s->f[IG_F_WORK] / s->ns);
            for (int j = 0; j < IG_FEATURES; j++) a[i * IG_FEATURES + j] = weight[i] * s->f[j] / s->ns;
        }
        ig_nnls(a, b, n, IG_FEATURES, cost->ns);
        cost->ns[IG_F_WORK] += work_ns;
        reweigh(samples, n, cost, weight);
    }
    cost->layers = n;
    for (int32_t i = 0; i < n; i++) cost->error += fabs(ig_fit_ns(cost, samples[i].f) / samples[i].ns - 1) / n;
    free(a);
    free(b);
    free(weight);
}
