/*
 * A recurrent layer (struct ig_recurrent of graph/op.h) by vectors of N rows of R: how these are packed, and where in scratch the states
 * are. Directions lie one behind the other.
 *
 * R of a direction is one matrix [G H][H], the GRU's two: of the gates z and r, and of gate h, which may wait for r. Each is cut in panels of up to
 * IG_RECURRENT_PANEL vectors of rows, the last having as many as there are:
 *
 *   panel 0: [k = 0] row 0 .. row 4 N - 1, [k = 1] row 0 .. row 4 N - 1, ..., [k = H - 1] ...
 *   panel 1: rows 4 N .., the same        (zero beyond the last row)
 *
 * Behind the matrices lies the bias of the GRU's gate h, 0 where there is none: [H] up to whole vectors.
 */
#ifndef KERNELS_CPU_COMMON_RECURRENT_H
#define KERNELS_CPU_COMMON_RECURRENT_H

#include "kernels_cpu/kernel.h"

enum { IG_RECURRENT_PANEL = 4, IG_RECURRENT_MOST = 16 /* floats of a vector */ };

/* n up to whole vectors of `lanes`. */
static inline int64_t ig_recurrent_up(int64_t n, int32_t lanes)
{
    return (n + lanes - 1) / lanes * lanes;
}

/* Rows of R that are the first matrix. */
static inline int32_t ig_recurrent_first(const struct ig_recurrent *a, int32_t hidden)
{
    return (a->kind == IG_GRU ? 2 : ig_gates_of(a)) * hidden;
}

/* Floats of a direction's packed weights. */
static inline int64_t ig_recurrent_packed(const struct ig_recurrent *a, int32_t hidden, int32_t lanes)
{
    const int32_t first = ig_recurrent_first(a, hidden), rest = ig_gates_of(a) * hidden - first;
    return (ig_recurrent_up(first, lanes) + ig_recurrent_up(rest, lanes)) * hidden + ig_recurrent_up(hidden, lanes);
}

/* Floats of a row of the batch in scratch: h, c and a product of H each, and the gates; of vectors that are read whole. */
static inline int64_t ig_recurrent_state(int32_t hidden)
{
    return ig_recurrent_up(hidden, IG_RECURRENT_MOST);
}

static inline int64_t ig_recurrent_gates(const struct ig_recurrent *a, int32_t hidden)
{
    return ig_recurrent_up((int64_t)ig_gates_of(a) * hidden, IG_RECURRENT_MOST) + IG_RECURRENT_MOST;
}

#endif
