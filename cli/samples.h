/* The layers that costs are fitted to, measured; and the fit. */
#ifndef CLI_SAMPLES_H
#define CLI_SAMPLES_H

#include "planner/platform.h"

enum { IG_SAMPLES_QUIET, IG_SAMPLES_FAMILIES, IG_SAMPLES_LAYERS };

struct ig_samples_options {
    const char *file; /* of times, like the grid's, taken from and added to; NULL: none */
    double seconds;   /* measure no longer; what is missing then is not fitted */
    double layer_s;   /* of a layer's passes together, about */
    int missing;      /* only families that the board has no costs of, to which they are added */
    int words;        /* on stderr: nothing, a line a family, a line a layer, too */
};
/*
 * Measures the calibration layers of the kernels that run here until the least time of each was met twice, and fits the
 * costs of the board's first processor. Pins the process to a core.
 */
void ig_samples_fit(struct ig_platform *b, const struct ig_samples_options *o);

#endif
