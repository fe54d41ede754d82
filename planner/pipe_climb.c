/* Algorithm 2 of Velasco-Montero et al. 2023: from the present cut upwards, else downwards, as long as it pays. */
#include <stdlib.h>

#include "planner/alloc.h"
#include "planner/pipe_baselines.h"

int32_t ig_algorithm2_printed(int32_t start, int32_t last, int64_t reference_ns, int32_t alpha, ig_measure_fn *measure,
                              void *context, int32_t *measured)
{
    int32_t best = start;
    *measured = 0;
    for (int32_t i = start; i <= last; i++) {
        int64_t m = measure(context, i) * alpha / 1024; /* m starts at 0, and each cut is visited once */
        ++*measured;
        if (m > reference_ns) break;
        best = i;
    }
    if (best > start) return best;
    for (int32_t i = start - 1; i >= 0; i--) {
        ++*measured;
        if (measure(context, i) > reference_ns) break;
        best = i;
    }
    return best;
}

int32_t ig_algorithm2(int32_t start, int32_t last, ig_measure_fn *measure, void *context, int32_t *measured)
{
    int64_t reference = measure(context, start);
    int32_t best = start;
    *measured = 1;
    for (int32_t step = 1; step >= -1 && best == start; step -= 2)
        for (int32_t i = start + step; i >= 0 && i <= last; i += step) {
            int64_t now = measure(context, i);
            ++*measured;
            if (now >= reference) break;
            reference = now;
            best = i;
        }
    return best;
}
