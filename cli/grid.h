/* The estimator tried on a grid of measured convolutions (ALOHA, section VIII-A, Table 6, Figure 3). */
#ifndef CLI_GRID_H
#define CLI_GRID_H

#include <stdint.h>

struct ig_grid_options {
    const char *kernel;   /* to measure; NULL: the first layer's, else the direct one */
    int32_t skip, layers; /* of the grid's order: leave out, then take */
    int32_t passes;       /* over all of them; the least time counts */
    double seconds;       /* stop measuring then; the next run goes on */
    double most_macs;     /* per layer */
};
/* Measures and appends to the file of times what it lacks. */
void ig_grid_measure(const char *times, const struct ig_grid_options *o);
/* Errors of the estimate beside operations, roofline and plain ALOHA, as a table and, if svg, a picture. */
void ig_grid_check(const char *times, const char *platform, const char *svg);

#endif
