/* Expected and measured, in the figures that tables of them have. */
#include <math.h>

#include "planner/pipe_baselines.h"

double ig_gap(double expected, double measured)
{
    return (measured - expected) / expected;
}

struct ig_gaps ig_gaps_of(const double *expected, const double *measured, int32_t n)
{
    struct ig_gaps g = {0, 0};
    for (int32_t i = 0; i < n; i++) {
        double gap = fabs(ig_gap(expected[i], measured[i]));
        g.mean += gap / n;
        if (gap > g.worst) g.worst = gap;
    }
    return g;
}

double ig_pipeline_gain(double a, double b, double pipeline)
{
    return pipeline / fmax(a, b);
}

double ig_pipeline_of_sum(double a, double b, double pipeline)
{
    return pipeline / (a + b);
}
