/* The convolutions that the estimator is fitted to, and those that it is tried on. */
#ifndef BENCH_GRID_H
#define BENCH_GRID_H

#include <stdint.h>

struct ig_grid_layer { int32_t ic, oc, size, k, stride, groups; }; /* square, padded by k/2 */

/* Multiply-adds of the layer. */
double ig_grid_macs(const struct ig_grid_layer *l);
/*
 * Table 6 of the ALOHA paper (images of 256x356 taken as 256x256): the combinations with k <= size and at most
 * `most_macs`, in an order that any first part of is spread over all (a fixed shuffle). Fills at[] up to `most`; returns how many there are.
 */
int32_t ig_grid_table6(struct ig_grid_layer *at, int32_t most, double most_macs);

#endif
