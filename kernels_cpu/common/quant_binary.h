/*
 * Sums and products of quantised operands (IG_QLINEAR_BINARY, kernels_cpu/ref/quant_binary.c): the rows of a range around one ISA's runs.
 */
#ifndef KERNELS_CPU_COMMON_QUANT_BINARY_H
#define KERNELS_CPU_COMMON_QUANT_BINARY_H

#include "kernels_cpu/kernel.h"

struct ig_quant_binary {
    float a, b, k;             /* sum: a a + (b b + k) */
    float product;             /* product: times the operands less their zeros */
    int32_t a_zero, b_zero, a_signed, b_signed;
    int32_t is_product;
    float low, high;           /* bounds of what is rounded: what the type and the clip allow, less zero */
    int32_t zero;
    int32_t is_signed, least, most; /* y is i8; bounds */
    int32_t narrows;           /* what is rounded is within 32 bits, so that narrowing with saturation keeps the type's bounds */
};

enum { IG_QUANT_STEP = 16 };

/* y[i] of a[i] and b[i], i < n, a multiple of IG_QUANT_STEP; y may be a or b. */
typedef void ig_quant_binary_run_fn(uint8_t *y, const uint8_t *a, const uint8_t *b, int64_t n, const struct ig_quant_binary *q);

/* Products of n pixels' IG_QUANT_STEP channels by the same b's; y may be a. Bytes from a pixel to the next. */
typedef void ig_quant_binary_scale_fn(uint8_t *y, int64_t y_step, const uint8_t *a, int64_t a_step, const uint8_t *b, int32_t n,
                                      const struct ig_quant_binary *q);

/* scale: or NULL. */
void ig_quant_binary_rows(const struct ig_call *call, struct ig_range range, ig_quant_binary_run_fn *run, ig_quant_binary_scale_fn *scale);

#endif
