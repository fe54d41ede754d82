/*
 * Build-time side of the vector kernels, plain C: which calls each family computes, how its weights are laid out,
 * how much scratch it takes. The layouts serve both ISAs.
 */
#ifndef KERNELS_CPU_PACK_PACK_H
#define KERNELS_CPU_PACK_PACK_H

#include "kernels_cpu/kernel.h"

#include "kernels_cpu/common/winograd_shape.h"
#include "kernels_cpu/pack/half.h"
#include "kernels_cpu/ref/ref.h"

/* --- pack/conv.c: float convolution, constant weights and bias, up to two spatial dims, or three where it says nd --- */
ig_supports_fn ig_supports_conv, ig_supports_conv_nd;           /* f32, constant weights: what all of these need */
ig_supports_fn ig_supports_conv_gemm, ig_supports_conv_gemm_nd; /* any k, stride, dilation, groups; not depthwise */
ig_supports_fn ig_supports_conv_first; /* nd; at most 4 input channels, one group, dw == 1 */
/* ... not nd, k x k, stride s, c input channels (names say which), no residual, a dozen columns at least */
ig_supports_fn ig_supports_first_3s1c3, ig_supports_first_3s2c3, ig_supports_first_5s1c3, ig_supports_first_5s2c3,
    ig_supports_first_7s2c3, ig_supports_first_3s1c1, ig_supports_first_5s1c1;
ig_supports_fn ig_supports_fc;
ig_pack_fn ig_pack_conv8;              /* panels of 8 channels */
ig_pack_fn ig_pack_conv16;             /* panels of 16 channels; conv_gemm and conv_first */
ig_pack_fn ig_pack_conv24;             /* panels of 24 */
ig_pack_fn ig_pack_fc16;
ig_supports_fn ig_supports_conv_dot, ig_supports_fc_dot; /* 1x1 without padding, where panels of 16 have some */
ig_pack_fn ig_pack_dot;                /* bias, then w[oc][ic]: nothing is padded */
ig_scratch_fn ig_scratch_conv_mr4;     /* micro-kernels of 4 rows */
ig_scratch_fn ig_scratch_conv_mr6;     /* of 6 */
ig_scratch_fn ig_scratch_conv_mr8;     /* of 8 */
ig_scratch_fn ig_scratch_conv_mr12;    /* of 12 */
ig_supports_fn ig_supports_pieces;     /* conv_gemm with 16 channels a group or more, in and out */
ig_scratch_fn ig_scratch_pieces;       /* products of pieces: common/pieces.h */
ig_scratch_fn ig_scratch_conv_small4, ig_scratch_conv_small6; /* blocks of IG_GEMM_BLOCK_SMALL */
ig_scratch_fn ig_scratch_first_mr6, ig_scratch_first_mr12;
ig_scratch_fn ig_scratch_first_line;   /* kh rows */
ig_scratch_fn ig_scratch_fc_mr6, ig_scratch_fc_mr12;
ig_supports_fn ig_supports_conv_packed; /* conv_gemm_nd with two panels a group or more */
ig_scratch_fn ig_scratch_conv_packed;   /* sets with packed kernels */
ig_scratch_fn ig_scratch_first_packed;

/* --- pack/matmul.c: both sides of floats, made at run time, of rank 2 at least; common/matmul.h --- */
ig_supports_fn ig_supports_matmul;
ig_scratch_fn ig_scratch_matmul_mr6, ig_scratch_matmul_mr12;

/* --- pack/conv_bytes.c: convolution of quantised numbers, constant parameters, up to two spatial dims; common/conv_bytes.h --- */
ig_supports_fn ig_supports_bytes_avx2, ig_supports_bytes_inner, ig_supports_bytes_split, ig_supports_bytes_paired, ig_supports_bytes_avxvnni,
    ig_supports_bytes_avx512, ig_supports_bytes_vnni, ig_supports_bytes_amx, ig_supports_bytes_neon, ig_supports_bytes_neon_wide, ig_supports_bytes_dotprod;
ig_pack_fn ig_pack_bytes_avx2, ig_pack_bytes_inner, ig_pack_bytes_split, ig_pack_bytes_paired, ig_pack_bytes_avxvnni, ig_pack_bytes_avx512,
    ig_pack_bytes_vnni, ig_pack_bytes_amx, ig_pack_bytes_neon, ig_pack_bytes_neon_wide, ig_pack_bytes_dotprod;
ig_scratch_fn ig_scratch_bytes_avx2, ig_scratch_bytes_inner, ig_scratch_bytes_split, ig_scratch_bytes_paired, ig_scratch_bytes_avxvnni,
    ig_scratch_bytes_avx512, ig_scratch_bytes_vnni, ig_scratch_bytes_amx, ig_scratch_bytes_neon, ig_scratch_bytes_neon_wide, ig_scratch_bytes_dotprod;
/* The same with sums as outputs, IG_CONV_INTEGER, whose x_zero need not be known; then IG_MATMUL_INTEGER by a constant matrix. */
ig_supports_fn ig_supports_sums_avx2, ig_supports_sums_inner, ig_supports_sums_paired, ig_supports_sums_avxvnni, ig_supports_sums_avx512,
    ig_supports_sums_vnni, ig_supports_sums_amx, ig_supports_sums_neon, ig_supports_sums_neon_wide, ig_supports_sums_dotprod;
ig_pack_fn ig_pack_sums_avx2, ig_pack_sums_inner, ig_pack_sums_paired, ig_pack_sums_avxvnni, ig_pack_sums_avx512, ig_pack_sums_vnni,
    ig_pack_sums_amx, ig_pack_sums_neon, ig_pack_sums_neon_wide, ig_pack_sums_dotprod;
ig_supports_fn ig_supports_product_avx2, ig_supports_product_inner, ig_supports_product_paired, ig_supports_product_avxvnni,
    ig_supports_product_avx512, ig_supports_product_vnni, ig_supports_product_amx, ig_supports_product_neon, ig_supports_product_neon_wide,
    ig_supports_product_dotprod;
ig_pack_fn ig_pack_product_avx2, ig_pack_product_inner, ig_pack_product_paired, ig_pack_product_avxvnni, ig_pack_product_avx512,
    ig_pack_product_vnni, ig_pack_product_amx, ig_pack_product_neon, ig_pack_product_neon_wide, ig_pack_product_dotprod;
ig_scratch_fn ig_scratch_product_avx2, ig_scratch_product_inner, ig_scratch_product_paired, ig_scratch_product_avxvnni, ig_scratch_product_avx512,
    ig_scratch_product_vnni, ig_scratch_product_amx, ig_scratch_product_neon, ig_scratch_product_neon_wide, ig_scratch_product_dotprod;

/* --- pack/depthwise_bytes.c --- */
ig_supports_fn ig_supports_sums_depthwise, ig_supports_sums_depthwise_neon;
ig_pack_fn ig_pack_sums_depthwise_neon, ig_pack_sums_depthwise_taps; /* of 8 bits; of 16 */
ig_supports_fn ig_supports_bytes_depthwise, ig_supports_bytes_depthwise_neon; /* groups == ic == oc */
ig_pack_fn ig_pack_bytes_depthwise_neon, ig_pack_bytes_depthwise_taps;
ig_scratch_fn ig_scratch_bytes_depthwise, ig_scratch_bytes_depthwise_pairs; /* by taps; by pairs of rows */
ig_supports_fn ig_supports_bytes_depthwise_fours, ig_supports_sums_depthwise_fours; /* by four bytes */
ig_pack_fn ig_pack_sums_depthwise_fours, ig_pack_sums_depthwise_fours_signed;
ig_pack_fn ig_pack_bytes_depthwise_fours, ig_pack_bytes_depthwise_fours_signed; /* pixels' bytes are unsigned; signed */
ig_scratch_fn ig_scratch_bytes_depthwise_fours, ig_scratch_bytes_depthwise_wide; /* of vectors of 64 channels */

/* --- pack/grouped_bytes.c: groups of few channels; common/grouped_bytes.h --- */
ig_supports_fn ig_supports_bytes_grouped_vnni, ig_supports_bytes_grouped_avxvnni, ig_supports_bytes_grouped_avx2,
    ig_supports_bytes_grouped_dotprod, ig_supports_bytes_grouped_neon;
ig_pack_fn ig_pack_bytes_grouped_vnni, ig_pack_bytes_grouped_avxvnni, ig_pack_bytes_grouped_avx2, ig_pack_bytes_grouped_dotprod,
    ig_pack_bytes_grouped_neon;
ig_scratch_fn ig_scratch_bytes_grouped_vnni, ig_scratch_bytes_grouped_avxvnni, ig_scratch_bytes_grouped_avx2, ig_scratch_bytes_grouped_dotprod,
    ig_scratch_bytes_grouped_neon;

/* --- pack/first_bytes.c: few input channels --- */
ig_supports_fn ig_supports_bytes_first_vnni;
ig_pack_fn ig_pack_bytes_first_vnni;
ig_scratch_fn ig_scratch_bytes_first_vnni;
ig_supports_fn ig_supports_first_pairs; /* by pairs of 16 bits */
ig_pack_fn ig_pack_first_pairs;
ig_scratch_fn ig_scratch_first_pairs;

/* --- pack/pixel_bytes.c: to one pixel, weights of 8 bits --- */
ig_supports_fn ig_supports_bytes_pixel;
ig_pack_fn ig_pack_bytes_pixel;
ig_scratch_fn ig_scratch_bytes_pixel;

/* --- pack/winograd_bytes.c: 3x3 of stride 1, one group; common/winograd_bytes.h --- */
ig_supports_fn ig_supports_bytes_winograd4, ig_supports_sums_winograd4;
ig_pack_fn ig_pack_bytes_winograd4, ig_pack_sums_winograd4;
ig_scratch_fn ig_scratch_bytes_winograd4;

/* --- pack/strassen.c: wide pointwise convolution --- */
ig_supports_fn ig_supports_strassen;
ig_pack_fn ig_pack_strassen16;
ig_scratch_fn ig_scratch_strassen6x16;
ig_supports_fn ig_supports_strassen_packed; /* the same on packed pixels */
ig_pack_fn ig_pack_strassen_chain16;
ig_scratch_fn ig_scratch_strassen_packed;

/* --- pack/winograd.c: stride 1 but where said, no dilation, one group; F(2,3), F(4,3), F(6,3), F(2,5), F(4,5), F(2,7), F(4,7) --- */
ig_supports_fn ig_supports_winograd;      /* 3x3 */
ig_supports_fn ig_supports_winograd2, ig_supports_winograd4, ig_supports_winograd6, ig_supports_winograd2s2,
    ig_supports_winograd4s2;              /* 3x3, of volumes too */
ig_supports_fn ig_supports_winograd_of5;  /* 5x5 */
ig_supports_fn ig_supports_winograd_of7;  /* 7x7 */
ig_supports_fn ig_supports_winograd_s2;   /* 3x3 of stride 2 */
ig_supports_fn ig_supports_winograd_row, ig_supports_winograd_column; /* 1x3, 1x5, 1x7; 3x1, 5x1, 7x1 */
ig_supports_fn ig_supports_winograd_line; /* either */
struct ig_winograd_layout { /* floats from a point to the next, from 16 outputs to the next 16, and from a channel to the next */
    int64_t point, panel, channel;
};
/* U of filters w[oc][ic][kd][kh][kw], of ic * kd channels: outputs that are not there are left as they are. */
void ig_winograd_filters(const float *w, int32_t ic, int32_t oc, const struct ig_winograd_shape *shape,
                         const struct ig_winograd_layout *layout, float *u);
ig_pack_fn ig_pack_winograd2;
ig_pack_fn ig_pack_winograd4;
ig_pack_fn ig_pack_winograd6;
ig_scratch_fn ig_scratch_winograd2;
ig_scratch_fn ig_scratch_winograd4;
ig_scratch_fn ig_scratch_winograd6;
ig_scratch_fn ig_scratch_winograd2_mr12, ig_scratch_winograd4_mr12, ig_scratch_winograd6_mr12; /* micro-kernels of 12 rows */
ig_pack_fn ig_pack_winograd_raw;        /* as they are: transformed when they are needed */
ig_scratch_fn ig_scratch_winograd2_raw;
ig_scratch_fn ig_scratch_winograd1x4_raw, ig_scratch_winograd2x4_raw;
ig_scratch_fn ig_scratch_winograd4_raw, ig_scratch_winograd4_lean;
ig_scratch_fn ig_scratch_winograd2_raw_mr12, ig_scratch_winograd4_raw_mr12, ig_scratch_winograd4_lean_mr12;
ig_scratch_fn ig_scratch_winograd2_packed; /* sets with packed kernels */
ig_scratch_fn ig_scratch_winograd4_packed;
ig_scratch_fn ig_scratch_winograd6_packed;

/* --- pack/deconv.c; supported where ig_supports_conv_nd says so --- */
ig_pack_fn ig_pack_deconv16;
ig_scratch_fn ig_scratch_deconv_mr6, ig_scratch_deconv_mr12;

/* --- pack/joined.c: up to 63 channels that are no whole panels, one group, no residual, no dilation; common/joined.h --- */
ig_supports_fn ig_supports_joined;
ig_pack_fn ig_pack_joined16;
ig_scratch_fn ig_scratch_joined_mr6, ig_scratch_joined_mr12;

/* --- pack/depthwise.c: groups == ic == oc --- */
ig_supports_fn ig_supports_depthwise, ig_supports_depthwise_nd; /* any window; of up to three dims */
ig_supports_fn ig_supports_depthwise3x3; /* stride 1 or 2, no dilation, padding <= 1 at the sides */
ig_supports_fn ig_supports_depthwise7;   /* 3x3, 5x5, 7x7, stride 1 or 2, no dilation; wide, whole blocks of 8 channels */
ig_supports_fn ig_supports_depthwise_any; /* nd; rows of 7 outputs or more, windows of up to 64 rows and columns */
ig_supports_fn ig_supports_deconv_depthwise; /* transposed, windows no smaller than strides, no dilation */
ig_pack_fn ig_pack_depthwise4;           /* blocks of 4 channels */
ig_pack_fn ig_pack_depthwise8;           /* of 8 */
ig_pack_fn ig_pack_depthwise16;          /* of 16 */
ig_scratch_fn ig_scratch_depthwise_any;  /* the same, common/depthwise_any.h */
ig_scratch_fn ig_scratch_depthwise7;     /* rows that are copied, common/depthwise7.h */

/* --- pack/grouped.c: groups of few channels, vectors of 4, 8 or 16 of them; no dilation, no residual; common/grouped.h --- */
ig_supports_fn ig_supports_grouped4, ig_supports_grouped8, ig_supports_grouped16;
ig_pack_fn ig_pack_grouped4, ig_pack_grouped8, ig_pack_grouped16;
ig_scratch_fn ig_scratch_grouped4, ig_scratch_grouped8, ig_scratch_grouped16;

/* --- pack/few.c: at most four output channels, one group, dw == 1, no residual; vectors of 4, 8 or 16 taps and channels; common/few.h --- */
ig_supports_fn ig_supports_few;
ig_pack_fn ig_pack_few4, ig_pack_few8, ig_pack_few16;
ig_scratch_fn ig_scratch_few;
ig_supports_fn ig_supports_few_deconv; /* windows no smaller than strides */
ig_pack_fn ig_pack_few_deconv4, ig_pack_few_deconv8, ig_pack_few_deconv16;
ig_scratch_fn ig_scratch_few_deconv;

/* --- pack/pool.c: maximum and average --- */
ig_supports_fn ig_supports_pool, ig_supports_pool_nd; /* of up to three dims */
ig_supports_fn ig_supports_pool_slide;   /* 2x2, 3x3, step 1 or 2, no dilation */
ig_supports_fn ig_supports_pool_bytes;   /* maximum of u8 or i8 where no window lies in the padding alone */
ig_supports_fn ig_supports_average_bytes; /* average of u8 or i8, any window of two dims */
ig_supports_fn ig_supports_global_pool;
ig_supports_fn ig_supports_pool_indices; /* maximum, nd, with indices */
ig_scratch_fn ig_scratch_pool_indices;   /* places of a window's taps */
ig_supports_fn ig_supports_unpool;       /* its inverse, in the extents that the window implies */

/* --- pack/elementwise.c: what a run of floats is enough for --- */
ig_supports_fn ig_supports_unary;      /* what an epilogue knows, and others up to exp, log, erf and atan */
ig_supports_fn ig_supports_gelu;
ig_supports_fn ig_supports_waves;      /* sine, cosine */
ig_supports_fn ig_supports_unary_fusable, ig_supports_unary_other; /* of those, by what epilogues know */
ig_supports_fn ig_supports_binary;     /* the arithmetic ones; an operand may have one row, column or channel */
ig_supports_fn ig_supports_binary_nd;  /* the same, leading dims broadcast one by one */
ig_supports_fn ig_supports_power;      /* of floats; as ig_supports_binary */
ig_supports_fn ig_supports_compare;    /* of floats or of integers, any shapes */
ig_supports_fn ig_supports_integers;   /* arithmetic of i32 or i64, logic of bools, any shapes */
ig_supports_fn ig_supports_softmax;    /* over the last axis; not hard */
ig_supports_fn ig_supports_softmax_across; /* over another */
ig_supports_fn ig_supports_arg;        /* f32 */
ig_supports_fn ig_supports_pad;        /* any type */
ig_supports_fn ig_supports_topk, ig_supports_topk_across; /* f32, of the last axis; of another */
ig_supports_fn ig_supports_cumsum, ig_supports_cumsum_across; /* the same */
ig_scratch_fn ig_scratch_topk;         /* a heap */
ig_supports_fn ig_supports_scatter;       /* any type; where updates are joined with what is there, f32 */
ig_supports_fn ig_supports_reduce;        /* f32, all but products */
ig_supports_fn ig_supports_norm_pixel;    /* layer and RMS, over the last axis */
ig_supports_fn ig_supports_norm_rows;     /* over the last axes, and others of them, within rows */
ig_supports_fn ig_supports_norm_runs;     /* over so many axes that no row has a whole one */
ig_supports_fn ig_supports_norm_instance;
ig_supports_fn ig_supports_norm_groups16, ig_supports_norm_groups64; /* of groups that 16, or else 64 channels are a whole number of */
ig_supports_fn ig_supports_norm_group;    /* of others */
ig_scratch_fn ig_scratch_norm;         /* sums of channels */
ig_supports_fn ig_supports_lrn;        /* f32 */
ig_scratch_fn ig_scratch_lrn;          /* a pixel, and a window */
ig_supports_fn ig_supports_copy;       /* any type */
ig_supports_fn ig_supports_cast;       /* u8, i8, bool or i32 to f32 */
ig_supports_fn ig_supports_cast_any;   /* others, but f16 */
ig_supports_fn ig_supports_transpose;  /* 4-byte elements, any permutation */
ig_supports_fn ig_supports_transpose_bytes; /* bytes */
ig_supports_fn ig_supports_transpose_runs;  /* others */

/* --- pack/recurrent.c: constant weights, vectors of 4, 8 or 16 of their rows; common/recurrent.h --- */
ig_supports_fn ig_supports_recurrent;
ig_pack_fn ig_pack_recurrent4, ig_pack_recurrent8, ig_pack_recurrent16;
ig_scratch_fn ig_scratch_recurrent;      /* states, and what the gates are given */

/* --- pack/quantize.c: f32 to u8 or i8 and back, one scale, one zero point or none --- */
ig_supports_fn ig_supports_quantize, ig_supports_dequantize;
ig_supports_fn ig_supports_quant_binary; /* IG_QLINEAR_BINARY, scales of floats */
ig_supports_fn ig_supports_quant_affine; /* IG_QLINEAR_AFFINE, constants */
ig_pack_fn ig_pack_quant_affine;

/* --- pack/resize.c: images whose rows and columns change --- */
ig_supports_fn ig_supports_resize_nearest; /* by whole factors, each pixel repeated; of floats */
ig_supports_fn ig_supports_resize_nearest_bytes; /* the same of bytes */
ig_supports_fn ig_supports_resize_taps;    /* without antialiasing; all modes and coordinate maps that the others do not take */
ig_scratch_fn ig_scratch_resize_taps;      /* the columns' taps */
ig_scratch_fn ig_scratch_grid_sample;      /* some points' taps */
ig_scratch_fn ig_scratch_deform_conv;      /* what some pixels' taps are in all channels */
ig_scratch_fn ig_scratch_roi_align;        /* what a bin's rows and columns weigh */
ig_supports_fn ig_supports_resize_linear;  /* without antialiasing; the common coordinate maps */

#endif
