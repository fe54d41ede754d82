/* The layers that the estimator is fitted to, and the grid that it is tried on. */
#ifndef BENCH_GRID_H
#define BENCH_GRID_H

#include "bench/single.h"

/*
 * Square, padded by k/2; kernels of windows of one row or column have k taps in it. stride: of a resize its factor; of a
 * transposition 1: planes become pixels, 2: pixels planes.
 */
struct ig_grid_layer { int32_t ic, oc, size, k, stride, groups; };
enum ig_grid_window { IG_GRID_SQUARE, IG_GRID_ROW, IG_GRID_COLUMN };

/* Multiply-adds of the layer. */
double ig_grid_macs(const struct ig_grid_layer *l);
/*
 * Table 6 of the ALOHA paper (images of 256x356 taken as 256x256): the combinations with k <= size and at most
 * `most_macs`, in a fixed random order, so that any part of the list is spread over all. Fills at[] up to `most`;
 * returns how many there are.
 */
int32_t ig_grid_table6(struct ig_grid_layer *at, int32_t most, double most_macs);

/* A family's calibration layers: at most 32, none of them in Table 6's grid. */
struct ig_calibration {
    int32_t op;                          /* enum ig_op */
    int32_t kind;                        /* of unary and binary ops, and of resizes; of convolutions enum ig_grid_window */
    const char *part;                    /* of the kernel's name; "" any other of the op */
    const struct ig_grid_layer *layers;
    int32_t n;
};
/* Set i, or NULL. */
const struct ig_calibration *ig_calibration_at(int i);
/* The set that kernel k is fitted to, the i-th that there is (kinds); NULL: no more. */
const struct ig_calibration *ig_calibration_of(const struct ig_kernel *k, int i);
/* The problem of one layer of a set; attrs is filled too. */
void ig_grid_problem(struct ig_single_problem *p, union ig_attrs *attrs, const struct ig_kernel *k, int32_t kind,
                     const struct ig_grid_layer *l);

#endif
