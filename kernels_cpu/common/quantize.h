/*
 * Floats to numbers of 8 bits and back by one scale and one zero point: y = saturate(round half to even(x / scale) + zero) and
 * y = (x - zero) scale. The rows of a range around one ISA's runs; a quotient that is no number gives the least output.
 */
#ifndef KERNELS_CPU_COMMON_QUANTIZE_H
#define KERNELS_CPU_COMMON_QUANTIZE_H

#include "kernels_cpu/kernel.h"

struct ig_quantization {
    float scale;
    int32_t zero;
    float low, high;       /* bounds of quotients, whole numbers: what the type holds, less zero */
    int32_t is_signed;     /* the numbers of 8 bits are i8, not u8 */
};

enum { IG_QUANTIZE_STEP = 16 };

/* y[i] of x[i], i < n: n is a multiple of IG_QUANTIZE_STEP */
typedef void ig_quantize_run_fn(uint8_t *y, const float *x, int64_t n, const struct ig_quantization *q);
typedef void ig_dequantize_run_fn(float *y, const uint8_t *x, int64_t n, const struct ig_quantization *q);

/* Of n numbers x, a multiple of IG_QUANTIZE_STEP, and of what `low` and `high` have, the least and the largest; no number counts for neither. */
typedef void ig_extremes_fn(const float *x, int64_t n, float *low, float *high);

void ig_quantize_rows(const struct ig_call *call, struct ig_range range, ig_quantize_run_fn *run);
void ig_dequantize_rows(const struct ig_call *call, struct ig_range range, ig_dequantize_run_fn *run);
/* Of a whole tensor, by the scale and zero point of its own extremes, which are outputs: kernels_cpu/ref/dynamic_quantize.c has the formulas. */
void ig_quantize_dynamic(const struct ig_call *call, ig_extremes_fn *extremes, ig_quantize_run_fn *run);

/* IG_EXTREMES: rows of the range. */
void ig_extremes_of_parts(const struct ig_call *call, struct ig_range range, ig_extremes_fn *extremes);

#endif
