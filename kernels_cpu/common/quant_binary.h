/*
 * Sums and products of quantised operands (IG_QLINEAR_BINARY): v = (a - a_zero) a_scale + (b - b_zero) b_scale, or times it, in floats,
 * then y = v / y_scale, rounded half to even, + y_zero, between bounds. The rows of a range around one ISA's runs.
 *
 * Quotients are made by the reciprocal of y_scale, which is off by less than 2^-12 where they lie between the bounds; where one is as
 * near to the middle between two integers, a vector is divided after all. So the bits are those of the division.
 */
#ifndef KERNELS_CPU_COMMON_QUANT_BINARY_H
#define KERNELS_CPU_COMMON_QUANT_BINARY_H

#include "kernels_cpu/kernel.h"

struct ig_quant_operand {
    float scale;
    int32_t zero, is_signed;
};

struct ig_quant_binary {
    struct ig_quant_operand a, b;
    float scale, reciprocal;   /* of y; reciprocal 0: it would leave the range of normal numbers, so that all is divided */
    float low, high;           /* bounds of quotients: what the type and the clip allow, less zero */
    int32_t zero, product;     /* product: times, not plus */
};

enum { IG_QUANT_STEP = 16 };
#define IG_QUANT_SURE (0.5f - 1.0f / 4096) /* a product that is no farther from its integer rounds as the quotient does */

/* y[i] of a[i] and b[i], i < n, a multiple of IG_QUANT_STEP; y may be a or b. */
typedef void ig_quant_binary_run_fn(uint8_t *y, const uint8_t *a, const uint8_t *b, int64_t n, const struct ig_quant_binary *q);

void ig_quant_binary_rows(const struct ig_call *call, struct ig_range range, ig_quant_binary_run_fn *run);

#endif
