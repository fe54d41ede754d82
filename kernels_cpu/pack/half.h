/* Build-time side of the kernels on halves (common/half.h): each asks the float kernel that it calls. */
#ifndef KERNELS_CPU_PACK_HALF_H
#define KERNELS_CPU_PACK_HALF_H

#include "kernels_cpu/kernel.h"

/* What the float kernel computes, where a tensor is of halves; weights and bias then are. */
ig_supports_fn ig_supports_half_conv, ig_supports_half_deconv, ig_supports_half_depthwise, ig_supports_half_depthwise3x3,
    ig_supports_half_fc, ig_supports_half_pool, ig_supports_half_pool_slide,
    ig_supports_half_global_pool, ig_supports_half_unary, ig_supports_half_binary, ig_supports_half_softmax;
/* Its packed weights, narrowed. */
ig_pack_fn ig_pack_half_conv16, ig_pack_half_deconv16, ig_pack_half_depthwise8, ig_pack_half_fc16;
/* By products that are added in halves (common/half_gemm.h): x is of halves. */
ig_supports_fn ig_supports_half_gemm_conv, ig_supports_half_gemm_fc, ig_supports_half_gemm_depthwise;
/* The same of x of floats, of few channels (common/half_first.h). */
ig_supports_fn ig_supports_half_gemm_first;
/* Of halves alone, by arithmetic on halves: sums, products and the like, and a clamp. */
ig_supports_fn ig_supports_halves_binary;
/* Of halves alone, which move as they are. */
ig_supports_fn ig_supports_half_resize_nearest;
/* Of halves on either side or on both, which are widened in registers. */
ig_supports_fn ig_supports_half_resize_linear;
/* The same of any float kernel with weights: whether it computes the call; its packed weights narrowed, or as floats. */
int ig_supports_half(const struct ig_call *call, ig_supports_fn *float_supports);
size_t ig_pack_half(const struct ig_call *call, void *dst, ig_pack_fn *float_pack);
size_t ig_pack_half_as_floats(const struct ig_call *call, void *dst, ig_pack_fn *float_pack);
/* Rooms for widened pieces, and its own scratch. */
ig_scratch_fn ig_scratch_half_conv_mr6, ig_scratch_half_conv_lean_mr6, ig_scratch_half_depthwise8,
    ig_scratch_half_conv_mr12, ig_scratch_half_deconv_mr6, ig_scratch_half_deconv_mr12, ig_scratch_half_fc_mr6,
    ig_scratch_half_fc_mr12, ig_scratch_half_pool, ig_scratch_half_global_pool, ig_scratch_half_unary, ig_scratch_half_binary,
    ig_scratch_half_softmax, ig_scratch_half_gemm_conv, ig_scratch_half_gemm_fc, ig_scratch_half_gemm_first;

#endif
