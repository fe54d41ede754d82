/* Non-negative least squares: what is fitted to a processor's measured times. */
#ifndef PLANNER_NNLS_H
#define PLANNER_NNLS_H

#include <stdint.h>

enum { IG_NNLS_MAX = 32 };

/*
 * c[n] >= 0 with the least |A c - b|, A of `rows` x n (row-major), n <= IG_NNLS_MAX. Columns of zeros, and those that
 * depend on better ones, get 0. Returns how well the optimality conditions hold: the greatest violation of "gradient
 * 0 where c > 0, >= 0 where c = 0", in columns scaled to length 1.
 */
double ig_nnls(const double *a, const double *b, int32_t rows, int32_t n, double *c);

#endif
