/* Whether computed numbers are the expected ones. */
#ifndef BENCH_COMPARE_H
#define BENCH_COMPARE_H

#include <stddef.h>

#include "graph/tensor.h"

struct ig_tolerance { /* of real numbers: |d| <= of_max max|ref| + of_each |ref| + absolute; integers are
                         equal */
    double of_max, of_each, absolute;
};

extern const struct ig_tolerance ig_node_tolerance;    /* one operator, ONNX's: 1e-5, 1e-3, 0 */
extern const struct ig_tolerance ig_network_tolerance; /* a whole network: 1e-4, 0, 1e-6 */
extern const struct ig_tolerance ig_half_tolerance;    /* one in 16 bits: 2e-2, 0, 1e-3 */

/*
 * Compares dense `got` of shape `s` with `ref` of shape `r`. The types must be equal, but f16 and f32 may be
 * held against each other; where f16 is one of them its own rounding is allowed too. 0, or -1 with a line in
 * err naming the first element outside the tolerance; *error is raised to the largest |d| (INFINITY where one
 * is not finite and the other is).
 */
int ig_compare(const struct ig_shape *s, const void *got, const struct ig_shape *r, const void *ref,
               const struct ig_tolerance *tolerance, double *error, char *err, size_t err_bytes);

#endif
