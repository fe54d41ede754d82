/*
 * Affine functions of quantised tensors, channel by channel (IG_QLINEAR_AFFINE, kernels_cpu/ref/quant_affine.c): the rows of a range around
 * one ISA's runs. Packed weights: struct ig_quant_affine, then scale[channels], offset[channels], floats, each with zeros up to a multiple of
 * IG_QUANT_STEP.
 */
#ifndef KERNELS_CPU_COMMON_QUANT_AFFINE_H
#define KERNELS_CPU_COMMON_QUANT_AFFINE_H

#include "kernels_cpu/common/quant_binary.h"

struct ig_quant_affine {       /* 64 bytes */
    int32_t x_signed;          /* x is i8 */
    float low, high;           /* bounds of what is rounded: what the type and the clip allow, less zero */
    int32_t zero;
    int32_t is_signed, room[10]; /* y is i8 */
};

/* y[i] of x[i] by scale[i] and offset[i], i < n, a multiple of IG_QUANT_STEP; y may be x. */
typedef void ig_quant_affine_run_fn(uint8_t *y, const uint8_t *x, const float *scale, const float *offset, int64_t n,
                                    const struct ig_quant_affine *q);

/* The same of so many pixels, y_step and x_step bytes apart. */
typedef void ig_quant_affine_pixels_fn(uint8_t *y, int64_t y_step, const uint8_t *x, int64_t x_step, const float *scale, const float *offset,
                                       int32_t channels, int32_t pixels, const struct ig_quant_affine *q);

/* pixels: or NULL. */
void ig_quant_affine_rows(const struct ig_call *call, struct ig_range range, ig_quant_affine_run_fn *run, ig_quant_affine_pixels_fn *pixels);

#endif
