/*
 * The reference kernels: the oracle of all others. They accumulate in double, use the plainest loops and are
 * never optimised. Their names and properties stand in kernels.inc; here are their prototypes and predicates.
 */
#ifndef KERNELS_CPU_REF_REF_H
#define KERNELS_CPU_REF_REF_H

#include "kernels_cpu/kernel.h"
#include "kernels_cpu/ref/ref_tensor.h"

#define KERNEL(symbol, name, op, isa, flags, rows, cols, supports, pack, scratch) ig_kernel_fn symbol;
#include "kernels_cpu/ref/kernels.inc"
#undef KERNEL

/* 1 if operand k is absent, or f32 or f16, dense and whole: how weights and biases must be that are no constants. */
int ig_ref_dense_float(const struct ig_call *call, int k);

ig_supports_fn deconv_f32_1x1__supports;
ig_supports_fn conv_f32_1x1__supports; /* f32 or f16 weights of any kind, constant or not */
ig_supports_fn pool_any_1x1__supports;         /* f32, f16; maxima of every numeric type; averages of u8 or i8 */
ig_supports_fn resize_f32_1x1__supports;       /* rank 4, only H and W change */
ig_supports_fn resize_any_nd__supports;        /* any rank; nearest also of types other than f32 and f16 */
ig_supports_fn conv_integer_any_1x1__supports; /* u8 or i8 operands, i32 result; with a scale f32 */
ig_supports_fn qlinear_conv_any_1x1__supports; /* u8 or i8 operands; result of these, or f32 without an activation */
ig_supports_fn deform_conv_f32_nd__supports;   /* two spatial dims */
ig_supports_fn max_unpool_f32_nd__supports;    /* indices i64 */
ig_supports_fn roi_align_f32_nd__supports;     /* batch indices i64 or i32 */
ig_supports_fn grid_sample_f32_nd__supports;   /* two or three spatial dims */
ig_supports_fn fc_f32_1x1__supports;
ig_supports_fn matmul_any_nd__supports;        /* f32, i32 or i64, all alike */
ig_supports_fn matmul_integer_any_nd__supports;
ig_supports_fn qlinear_matmul_any_nd__supports;
ig_supports_fn unary_any_1x1__supports; /* f32, f16: every kind; integers and bool: the kinds that they have */
ig_supports_fn binary_any_1x1__supports;       /* an operand has the output's h, w, c, or 1 */
ig_supports_fn binary_any_nd__supports;
ig_supports_fn where_any_nd__supports;
ig_supports_fn cast_any_1x1__supports;         /* every pair of types */
ig_supports_fn quantize_any_nd__supports;      /* f32 or i32 -> u8, i8 */
ig_supports_fn dequantize_any_nd__supports;    /* u8, i8 or i32 -> f32 */
ig_supports_fn qlinear_binary_any_1x1__supports; /* u8 or i8 operands of one shape, or the second a pixel, and result; a parameter is one number */
ig_supports_fn qlinear_affine_any_1x1__supports; /* u8 or i8 */
ig_supports_fn lookup_any_1x1__supports;       /* u8 or i8, a table of u8 or i8 */

#endif
