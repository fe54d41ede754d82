/*
 * The common functions of two i32 or i64, numpy-broadcast, and the logic of bools, as kernels_cpu/ref/binary.c has them: integers wrap, and division
 * by zero gives 0. Output rows [y0, y1); the output is dense.
 */
#ifndef KERNELS_CPU_COMMON_INTEGERS_H
#define KERNELS_CPU_COMMON_INTEGERS_H

#include "kernels_cpu/kernel.h"

void ig_integer_rows(const struct ig_call *call, struct ig_range range);

/* 1 if `kind` of elements of `type` is one of them. */
static inline int ig_integer_fits(int32_t kind, int32_t type)
{
    if (type == IG_BOOL) return kind >= IG_AND && kind <= IG_XOR;
    return (type == IG_I32 || type == IG_I64) && kind >= IG_ADD && kind <= IG_MIN;
}

#endif
