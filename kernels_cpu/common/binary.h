/*
 * Element-wise functions of two operands: the walk over rows and broadcasts, around one ISA's loops over
 * runs. An operand has the output's rows, columns and channels, or one of each; its rows may also be those of some of the
 * output's leading dims. Runs are as long as both operands allow: a whole row, or the channels of a pixel, cut into pieces, so that the activation finds them
 * in L1.
 */
#ifndef KERNELS_CPU_COMMON_BINARY_H
#define KERNELS_CPU_COMMON_BINARY_H

#include "kernels_cpu/kernel.h"

struct ig_binary_run {
    const float *a, *b;
    int a_one, b_one;         /* the operand is one value for the whole run */
    float *y;                 /* may be a or b */
    int64_t n;                /* floats, >= 1 */
};

struct ig_binary_steps {      /* floats from a pixel to the next */
    int64_t a, b, y;
};

struct ig_binary_loops {
    /* The run of each of `pixels` pixels of a row, the first as given; kind: enum ig_binary */
    void (*run)(const struct ig_binary_run *run, int32_t kind, int32_t pixels, struct ig_binary_steps steps);
    void (*act)(float *y, const float *x, int64_t n, const struct ig_act *act); /* y may be x */
    /* `run` and `act` in one, with the same bits: 1 where that is done. NULL: nowhere */
    int (*both)(const struct ig_binary_run *run, const struct ig_binary_attr *attr, int32_t pixels,
                struct ig_binary_steps steps);
};

/* The kernel: `call` of IG_BINARY, floats. */
void ig_binary_rows(const struct ig_call *call, struct ig_range range, const struct ig_binary_loops *loops);

/* The row of operand o that row y of the output takes: each leading dim has one element or those of the output. */
int32_t ig_binary_row(const struct ig_operand *o, const struct ig_operand *out, int32_t y);
/* A range's rows have no gaps, and each operand's are the same elements or one: a row is one run. */
int ig_binary_is_whole(const struct ig_call *call, struct ig_range range);

#endif
