/*
 * Operands that are numpy-broadcast to a dense output, element by element: loops along which all of them run on, or all repeat, where the next inner
 * one ends are one, and lines along the innermost are what a kernel is asked for.
 */
#ifndef KERNELS_CPU_COMMON_NEST_H
#define KERNELS_CPU_COMMON_NEST_H

#include "kernels_cpu/kernel.h"

enum { IG_NEST_MOST = 3 };    /* operands */

struct ig_nest_line {
    char *y;
    const char *in[IG_NEST_MOST];
    int one[IG_NEST_MOST];    /* the operand is one element for the whole line */
    int64_t n;                /* elements, >= 1 */
};

typedef void ig_nest_fn(const struct ig_call *call, const struct ig_nest_line *line);

/* `fn` for every line of output rows [y0, y1) of a call whose first `operands` inputs are broadcast. */
void ig_nest_lines(const struct ig_call *call, struct ig_range range, int operands, ig_nest_fn *fn);

#endif
