/* Predicates and kernels of the reference for tensor operators: reductions, normalisations, data movement. */
#ifndef KERNELS_CPU_REF_REF_TENSOR_H
#define KERNELS_CPU_REF_REF_TENSOR_H

#include "kernels_cpu/kernel.h"

ig_supports_fn ig_ref_moves;     /* first input and output have one type, any */
ig_supports_fn ig_ref_moves_all; /* all inputs and the output have one type, any */
ig_supports_fn ig_ref_is_number; /* the same, and not f16, which has no arithmetic here */
ig_supports_fn ig_ref_is_f32;    /* first input and output are f32 */
ig_supports_fn ig_ref_is_float;  /* first input and output are f32 or f16 */

ig_supports_fn softmax_f32_1x0__supports; /* the axis is the last one */
ig_supports_fn arg_any_nd__supports;
ig_supports_fn norm_f32_nd__supports;
ig_supports_fn cumsum_any_nd__supports;
ig_supports_fn topk_any_nd__supports;
ig_supports_fn recurrent_f32_nd__supports;
ig_supports_fn pad_any_nd__supports;     /* constant f16 padding has no f16 value */
ig_supports_fn gather_any_nd__supports;  /* indices i32 or i64; all three gathers */
ig_supports_fn scatter_any_nd__supports; /* both scatters */
ig_supports_fn one_hot_any_nd__supports;
ig_supports_fn triu_any_nd__supports;
ig_supports_fn dynamic_quantize_f32_nd__supports, extremes_f32_nd__supports;

ig_scratch_fn ig_ref_scratch_recurrent; /* states and gates of one row */

#define KERNEL(symbol, name, op, isa, flags, rows, cols, supports, pack, scratch) ig_kernel_fn symbol;
#include "kernels_cpu/ref/kernels_tensor.inc"
#undef KERNEL

#endif
