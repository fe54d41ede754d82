/* Build-time side of the GPU kernels: which calls each computes, how its weights are laid out, and its launches. */
#ifndef KERNELS_GPU_LAUNCH_LAUNCH_H
#define KERNELS_GPU_LAUNCH_LAUNCH_H

#include <string.h>

#include "kernels_cpu/pack/ask.h"
#include "kernels_gpu/kernel.h"
#include "kernels_gpu/params.h"

/* --- questions about operands --- */

/* Whole in memory, and small enough for 32-bit strides. */
static inline int ig_gpu_holds(const struct ig_operand *o)
{
    return o->ring_rows == o->h && (int64_t)o->h * o->row_stride < INT32_MAX / 4 && o->h < 16384 && o->w < 16384;
}

static inline int ig_gpu_holds_all(const struct ig_call *call)
{
    for (int i = 0; i < call->n_in; i++)
        if (call->in[i].shape && !ig_gpu_holds(&call->in[i])) return 0;
    return ig_gpu_holds(&call->out[0]);
}

enum { IG_GPU_MOST_GRID = 65535 /* blocks of a grid's second and third dim */ };

/* Tiles of 16 channels of a group at least lie across the one, groups with up to 16 pieces of their sums each across the other. */
static inline int ig_gpu_fits_grid(int64_t groups, int64_t channels)
{
    return channels <= 16 * IG_GPU_MOST_GRID && groups * 16 <= IG_GPU_MOST_GRID;
}

/* So many elements at a time at every pixel whose offset is a multiple of so many channels. */
static inline int ig_gpu_is_vector_of(const struct ig_operand *o, int32_t n)
{
    return (uintptr_t)o->data % ((size_t)n * ig_type_bytes(o->shape->type)) == 0 && o->row_stride % n == 0 && o->pixel_stride % n == 0;
}

static inline int ig_gpu_is_vector(const struct ig_operand *o)
{
    return ig_gpu_is_vector_of(o, 4);
}

static inline int ig_gpu_is_halves(const struct ig_operand *o)
{
    return o->shape && o->shape->type == IG_F16;
}

/* Of a convolution on halves: which operands behind its sum are, IG_GPU_OUT_HALVES and IG_GPU_RESIDUAL_HALVES. */
static inline int32_t ig_gpu_halves_of(const struct ig_call *call)
{
    return (ig_gpu_is_halves(&call->out[0]) ? IG_GPU_OUT_HALVES : 0) | (ig_gpu_is_halves(&call->in[3]) ? IG_GPU_RESIDUAL_HALVES : 0);
}

static inline int32_t ig_gpu_ceil(int64_t n, int32_t by)
{
    return (int32_t)((n + by - 1) / by);
}

/* Channels that rows of packed weights have: whole quads. */
static inline int32_t ig_gpu_round4(int32_t n)
{
    return (n + 3) / 4 * 4;
}

/* Elements that the bias takes before packed weights: a multiple of 16, so that those stay aligned. */
static inline int64_t ig_gpu_bias_room(const struct ig_call *call)
{
    return ig_has(call, 2) ? ((int64_t)call->out[0].c + 15) / 16 * 16 : 0;
}

static inline struct ig_gpu_act ig_gpu_act_of(const struct ig_act *a)
{
    struct ig_gpu_act act = {a->kind, a->alpha, a->beta};
    return act;
}

/* `to` = a grid of x * y * z blocks of `function` on params, the first `pointers` words of which are addresses. */
static inline void ig_gpu_fill(struct ig_gpu_launch *to, const char *function, int32_t x, int32_t y, int32_t z,
                               uint32_t threads, uint32_t pointers, const void *params, size_t bytes)
{
    *to = (struct ig_gpu_launch){function, {(uint32_t)x, (uint32_t)y, (uint32_t)z}, threads, pointers, (uint32_t)bytes, 1, {0}};
    memcpy(to->params, params, bytes);
}

/* Blocks of 128 threads for up to IG_GPU_SOME elements each: few elements are still spread over the whole GPU. */
static inline int32_t ig_gpu_some_blocks(int64_t count)
{
    const int32_t full = 512, each = ig_gpu_ceil(count, 128), some = ig_gpu_ceil(count, 128 * IG_GPU_SOME);
    return each <= full ? each : some > full ? some : full;
}

/* --- launch/conv.c --- */
ig_supports_fn ig_gpu_supports_conv;       /* as a matrix product; not depthwise */
ig_supports_fn ig_gpu_supports_conv_few, ig_gpu_supports_conv_gemv; /* 1x1, few pixels */
ig_supports_fn ig_gpu_supports_conv_wide;  /* some pixels */
ig_supports_fn ig_gpu_supports_direct;     /* any window and groups */
ig_supports_fn ig_gpu_supports_volume;     /* three dims, groups of some channels */
ig_supports_fn ig_gpu_supports_depthwise;  /* 3x3, 5x5 and 7x7, stride 1 and 2; 3x3 and 5x5 of stride 1 also dilated */
ig_supports_fn ig_gpu_supports_depthwise_wide; /* 5x5 and 7x7, stride 1 */
ig_supports_fn ig_gpu_supports_depthwise_ring; /* 5x5, stride 1 */
ig_supports_fn ig_gpu_supports_grouped;    /* 3x3, stride 1 and 2, groups of few fours of channels */
ig_supports_fn ig_gpu_supports_fc;
ig_pack_fn ig_gpu_pack_conv;               /* bias, then [group][tap][ic][oc4] */
ig_pack_fn ig_gpu_pack_depthwise;          /* bias, then [tap][oc4] */
ig_pack_fn ig_gpu_pack_grouped;            /* bias, then [tap][ic of a group][groups * oc] */
ig_pack_fn ig_gpu_pack_gemv;               /* bias, then [oc][ic] */
ig_scratch_fn ig_gpu_scratch_split2, ig_gpu_scratch_split3, ig_gpu_scratch_split4, ig_gpu_scratch_split8,
    ig_gpu_scratch_split16; /* pieces of sums */
ig_gpu_launch_fn ig_gpu_conv_128x128, ig_gpu_conv_128x128k2, ig_gpu_conv_128x128k4, ig_gpu_conv_128x64, ig_gpu_conv_128x64k2,
    ig_gpu_conv_128x64k3, ig_gpu_conv_128x64k4, ig_gpu_conv_128x64k8, ig_gpu_conv_64x64, ig_gpu_conv_64x64k2, ig_gpu_conv_64x64k4,
    ig_gpu_conv_64x64k8, ig_gpu_conv_64x64k16, ig_gpu_conv_64x64s, ig_gpu_conv_32x32, ig_gpu_conv_32x32k4, ig_gpu_conv_32x32k16,
    ig_gpu_conv_16x128, ig_gpu_conv_16x128k4, ig_gpu_conv_64x128k4, ig_gpu_conv_64x128k8, ig_gpu_conv_mma64x64, ig_gpu_conv_mma64x64k2,
    ig_gpu_conv_mma64x64k4,
    ig_gpu_conv_mma64x64k8, ig_gpu_conv_mma64x128, ig_gpu_conv_mma64x128k2, ig_gpu_conv_mma64x128k4, ig_gpu_conv_mma64x128k8;
ig_gpu_launch_fn ig_gpu_conv_direct, ig_gpu_conv_depthwise, ig_gpu_conv_depthwise_wide, ig_gpu_conv_depthwise_ring,
    ig_gpu_conv_grouped2x4, ig_gpu_conv_grouped1x4, ig_gpu_conv_volume64x64, ig_gpu_conv_volume32x32;
ig_gpu_launch_fn ig_gpu_fc_64x64, ig_gpu_fc_32x32k16, ig_gpu_fc_gemv, ig_gpu_conv_gemv;

float *ig_gpu_put_bias(const struct ig_call *call, float *to); /* where it ends */
struct ig_gpu_conv ig_gpu_conv_of(const struct ig_call *call); /* parameters of a convolution as it is */
struct ig_gpu_conv ig_gpu_fc_of(const struct ig_call *call);   /* of a fully connected layer, as a convolution over one column */
struct ig_gpu_conv ig_gpu_depthwise_of(const struct ig_call *call);
int ig_gpu_are_quads(const struct ig_call *call, const struct ig_gpu_conv *p); /* operands of a kernel of quads of all channels */
void ig_gpu_depthwise_fill(const struct ig_gpu_conv *p, int halves, struct ig_gpu_launch *to); /* the function of its window and stride */
int ig_gpu_gemv_fill(const struct ig_call *call, const struct ig_gpu_conv *p, int halves, struct ig_gpu_launch *to);
/* `of`: as of any convolution; 1 or 2 rows a thread. */
int ig_gpu_grouped_fill(const struct ig_call *call, const struct ig_gpu_conv *of, int rows, int halves, struct ig_gpu_launch *to);
ig_pack_fn ig_gpu_pack_conv8;              /* as ig_gpu_pack_conv, rows rounded up to 8 */
/* At most so many pieces of whole units of channels; of no tap at all, one of none. */
void ig_gpu_split(struct ig_gpu_conv *p, int32_t unit, int32_t splits, void *scratch);
/* Bytes of the pieces' sums, of rows that `columns` channels are multiples of. */
size_t ig_gpu_partial_bytes(const struct ig_call *call, int32_t columns, int32_t splits);

/* --- launch/first.c: one to four channels under a window; half: weights are halves --- */
ig_supports_fn ig_gpu_supports_first_128x64, ig_gpu_supports_first_64x32k2, ig_gpu_supports_first_64x16k4,
    ig_gpu_supports_half_first_128x64, ig_gpu_supports_half_first_64x32k2, ig_gpu_supports_half_first_64x16k4;
ig_pack_fn ig_gpu_pack_first, ig_gpu_pack_half_first; /* bias, then as struct ig_gpu_first says */
ig_gpu_launch_fn ig_gpu_first_128x64, ig_gpu_first_64x32k2, ig_gpu_first_64x16k4, ig_gpu_half_first_128x64, ig_gpu_half_first_64x32k2,
    ig_gpu_half_first_64x16k4;

/* --- launch/first_half.c: the same by tensor cores, of weights that are halves --- */
ig_supports_fn ig_gpu_supports_half_first_mma128x64, ig_gpu_supports_half_first_mma128x32;
ig_pack_fn ig_gpu_pack_half_first_mma; /* bias, then as struct ig_gpu_first_mma says */
ig_gpu_launch_fn ig_gpu_half_first_mma128x64, ig_gpu_half_first_mma128x32;

/* --- launch/conv_half.c: weights are halves, and inputs may be --- */
struct ig_gpu_conv ig_gpu_on_halves(const struct ig_call *call, struct ig_gpu_conv p); /* p: of the call as one on floats */
struct ig_gpu_conv ig_gpu_in_eights(struct ig_gpu_conv p);                             /* rows of weights are of whole eights */
ig_supports_fn ig_gpu_supports_half_conv, ig_gpu_supports_half_mma /* inputs are */, ig_gpu_supports_half_depthwise,
    ig_gpu_supports_half_grouped, ig_gpu_supports_half_conv_gemv,
    ig_gpu_supports_half_direct, ig_gpu_supports_half_fc, ig_gpu_supports_half_winograd2, ig_gpu_supports_half_winograd4;
ig_pack_fn ig_gpu_pack_half_conv;                                                    /* bias and weights narrowed, rows of whole eights */
/* Those of the kernels on floats, narrowed. */
ig_pack_fn ig_gpu_pack_half_direct, ig_gpu_pack_half_depthwise, ig_gpu_pack_half_grouped, ig_gpu_pack_half_gemv;
ig_pack_fn ig_gpu_pack_half_winograd2, ig_gpu_pack_half_winograd4;                   /* floats */
ig_scratch_fn ig_gpu_scratch_half_split2, ig_gpu_scratch_half_split4, ig_gpu_scratch_half_split8, ig_gpu_scratch_half_split16;
ig_gpu_launch_fn ig_gpu_half_128x64, ig_gpu_half_128x64k2, ig_gpu_half_64x64, ig_gpu_half_64x64k2, ig_gpu_half_64x64k4,
    ig_gpu_half_64x64k8, ig_gpu_half_64x64s, ig_gpu_half_32x32, ig_gpu_half_32x32k4, ig_gpu_half_32x32k16, ig_gpu_half_mma128x64,
    ig_gpu_half_mma128x64k2, ig_gpu_half_mma64x64, ig_gpu_half_mma64x64k2, ig_gpu_half_mma64x64k4, ig_gpu_half_mma64x64k8,
    ig_gpu_half_mma64x64k16, ig_gpu_half_depthwise, ig_gpu_half_grouped2x4, ig_gpu_half_grouped1x4, ig_gpu_half_direct,
    ig_gpu_half_fc_64x64, ig_gpu_half_fc_mma64x64k8, ig_gpu_half_gemv, ig_gpu_half_conv_gemv;

/* --- launch/conv_bytes.c: QLinearConv of constant parameters, weights that are signed bytes --- */
ig_supports_fn ig_gpu_supports_bytes /* not depthwise */, ig_gpu_supports_bytes_gemv /* 1x1, a pixel or few */, ig_gpu_supports_bytes_depthwise,
    ig_gpu_supports_bytes_grouped /* 3x3, stride 1 and 2, groups of few channels, fours of outputs */;
ig_pack_fn ig_gpu_pack_bytes, ig_gpu_pack_bytes_depthwise, ig_gpu_pack_bytes_grouped;
ig_scratch_fn ig_gpu_scratch_bytes_split2, ig_gpu_scratch_bytes_split4, ig_gpu_scratch_bytes_split8, ig_gpu_scratch_bytes_split16;
ig_gpu_launch_fn ig_gpu_bytes_128x64, ig_gpu_bytes_128x64k2, ig_gpu_bytes_64x64, ig_gpu_bytes_64x64k2, ig_gpu_bytes_64x64k4,
    ig_gpu_bytes_64x64k8, ig_gpu_bytes_32x32, ig_gpu_bytes_32x32k4, ig_gpu_bytes_32x32k16, ig_gpu_bytes_mma128x64,
    ig_gpu_bytes_mma128x64k2, ig_gpu_bytes_mma64x64, ig_gpu_bytes_mma64x64k2, ig_gpu_bytes_mma64x64k4, ig_gpu_bytes_mma64x64k8,
    ig_gpu_bytes_mma64x64k16, ig_gpu_bytes_gemv, ig_gpu_bytes_depthwise, ig_gpu_bytes_grouped2x4, ig_gpu_bytes_grouped1x4;

/* --- launch/deconv.c --- */
ig_supports_fn ig_gpu_supports_deconv, ig_gpu_supports_deconv_tile; /* as many phases, and groups of them, as a grid may be deep */
/* Weights are halves, and inputs may be; or are. */
ig_supports_fn ig_gpu_supports_half_deconv, ig_gpu_supports_half_deconv_tile, ig_gpu_supports_half_deconv_mma;
ig_pack_fn ig_gpu_pack_deconv;             /* bias, then [group][phase][tap][ic][oc4] */
ig_pack_fn ig_gpu_pack_half_deconv /* rows of whole eights */, ig_gpu_pack_half_deconv_direct;
ig_gpu_launch_fn ig_gpu_deconv_64x64, ig_gpu_deconv_32x32, ig_gpu_deconv_direct, ig_gpu_half_deconv_mma64x64, ig_gpu_half_deconv_64x64,
    ig_gpu_half_deconv_32x32, ig_gpu_half_deconv_direct;

/* --- launch/winograd.c: stride 1, and 2 where said; 2 or 4 outputs a row of a tile; *_few: of so few tiles that conv_16x128 may be best --- */
ig_supports_fn ig_gpu_supports_winograd2, ig_gpu_supports_winograd4, ig_gpu_supports_winograd2of5, ig_gpu_supports_winograd4of5,
    ig_gpu_supports_winograd2of7, ig_gpu_supports_winograd2s2, ig_gpu_supports_winograd4s2, ig_gpu_supports_winograd4line;
ig_supports_fn ig_gpu_supports_winograd2_few, ig_gpu_supports_winograd4_few, ig_gpu_supports_winograd2of5_few,
    ig_gpu_supports_winograd4of5_few, ig_gpu_supports_winograd2of7_few, ig_gpu_supports_winograd2s2_few,
    ig_gpu_supports_winograd4s2_few, ig_gpu_supports_winograd4line_few;
ig_pack_fn ig_gpu_pack_winograd2, ig_gpu_pack_winograd4; /* of any window */
ig_scratch_fn ig_gpu_scratch_winograd2, ig_gpu_scratch_winograd4;
ig_gpu_launch_fn ig_gpu_winograd2, ig_gpu_winograd2_16x128, ig_gpu_winograd2_128x64, ig_gpu_winograd4, ig_gpu_winograd4_16x128,
    ig_gpu_winograd4_32x32, ig_gpu_winograd4_128x64, ig_gpu_winograd2_mma64x64, ig_gpu_winograd2_mma64x128,
    ig_gpu_winograd4_mma64x64, ig_gpu_winograd4_mma64x128;

/* --- launch/pool.c --- */
ig_supports_fn ig_gpu_supports_pool, ig_gpu_supports_global_pool;
ig_supports_fn ig_gpu_supports_half_pool /* of halves alone */, ig_gpu_supports_half_global_pool;
ig_scratch_fn ig_gpu_scratch_global_pool;     /* what pieces of an image give */
ig_gpu_launch_fn ig_gpu_pool, ig_gpu_global_pool;

/* --- launch/pool_bytes.c --- */
ig_supports_fn ig_gpu_supports_average_bytes, ig_gpu_supports_max_bytes;
ig_scratch_fn ig_gpu_scratch_average_bytes;   /* what pieces of windows give */
ig_gpu_launch_fn ig_gpu_average_bytes, ig_gpu_max_bytes;

/* --- launch/map.c: element by element, and along channels --- */
ig_supports_fn ig_gpu_supports_unary, ig_gpu_supports_binary, ig_gpu_supports_copy, ig_gpu_supports_softmax;
ig_supports_fn ig_gpu_supports_half_unary, ig_gpu_supports_half_binary; /* of halves, but for the second operand */
ig_supports_fn ig_gpu_supports_half_softmax; /* of halves on one side or both */
ig_gpu_launch_fn ig_gpu_unary, ig_gpu_binary, ig_gpu_copy, ig_gpu_softmax;

/* --- launch/move.c: transposes and resizes --- */
ig_supports_fn ig_gpu_supports_transpose, ig_gpu_supports_resize_nearest, ig_gpu_supports_half_resize_nearest, ig_gpu_supports_resize_nearest_bytes,
    ig_gpu_supports_resize_linear, ig_gpu_supports_half_resize_linear;
ig_pack_fn ig_gpu_pack_resize_nearest, ig_gpu_pack_resize_linear; /* struct ig_gpu_resize.lines */
ig_gpu_launch_fn ig_gpu_transpose, ig_gpu_resize;

/* --- launch/elementwise.c: any type and broadcasting --- */
ig_supports_fn ig_gpu_supports_unary_any, ig_gpu_supports_binary_any, ig_gpu_supports_binary_nd, ig_gpu_supports_where,
    ig_gpu_supports_cast, ig_gpu_supports_quantize, ig_gpu_supports_dequantize, ig_gpu_supports_dynamic_quantize, ig_gpu_supports_extremes,
    ig_gpu_supports_qlinear_binary, ig_gpu_supports_qlinear_affine, ig_gpu_supports_lookup;
ig_scratch_fn ig_gpu_scratch_dynamic_quantize;
ig_gpu_launch_fn ig_gpu_unary_any, ig_gpu_binary_any, ig_gpu_binary_nd, ig_gpu_where, ig_gpu_cast, ig_gpu_quantize,
    ig_gpu_dequantize, ig_gpu_dynamic_quantize, ig_gpu_extremes, ig_gpu_qlinear_binary, ig_gpu_qlinear_affine, ig_gpu_lookup;

/* --- launch/tensor.c: data that moves, any type --- */
ig_supports_fn ig_gpu_supports_copy_any, ig_gpu_supports_move /* reshape, slice, expand, tile */, ig_gpu_supports_transpose_any,
    ig_gpu_supports_concat, ig_gpu_supports_pad, ig_gpu_supports_one_hot, ig_gpu_supports_triu,
    ig_gpu_supports_gather, ig_gpu_supports_scatter;
ig_gpu_launch_fn ig_gpu_copy_any, ig_gpu_reshape, ig_gpu_transpose_any, ig_gpu_slice, ig_gpu_expand, ig_gpu_tile, ig_gpu_concat,
    ig_gpu_pad, ig_gpu_one_hot, ig_gpu_triu, ig_gpu_gather, ig_gpu_gather_elements, ig_gpu_gather_nd, ig_gpu_scatter_elements,
    ig_gpu_scatter_nd;

/* --- launch/axis.c: along axes --- */
ig_supports_fn ig_gpu_supports_softmax_any, ig_gpu_supports_cumsum, ig_gpu_supports_arg, ig_gpu_supports_topk,
    ig_gpu_supports_reduce, ig_gpu_supports_norm;
ig_scratch_fn ig_gpu_scratch_reduce, ig_gpu_scratch_norm; /* what pieces give */
ig_gpu_launch_fn ig_gpu_softmax_any, ig_gpu_cumsum, ig_gpu_arg, ig_gpu_topk, ig_gpu_reduce, ig_gpu_norm;

/* --- launch/recurrent.c --- */
ig_supports_fn ig_gpu_supports_recurrent /* states fit shared memory */, ig_gpu_supports_recurrent_kept /* few units */,
    ig_gpu_supports_recurrent_4 /* several rows, units by quads */, ig_gpu_supports_recurrent_spread,
    ig_gpu_supports_recurrent_spread4 /* several rows */, ig_gpu_supports_recurrent_spread8 /* more than four */;
ig_scratch_fn ig_gpu_scratch_recurrent;      /* states */
ig_gpu_launch_fn ig_gpu_recurrent_kept, ig_gpu_recurrent_1, ig_gpu_recurrent_4, ig_gpu_recurrent_spread, ig_gpu_recurrent_spread4,
    ig_gpu_recurrent_spread8;

/* --- launch/matmul.c --- */
ig_supports_fn ig_gpu_supports_matmul, ig_gpu_supports_matmul_any, ig_gpu_supports_matmul_integer, ig_gpu_supports_matmul_bytes,
    ig_gpu_supports_qlinear_matmul;
ig_gpu_launch_fn ig_gpu_matmul, ig_gpu_matmul_integer, ig_gpu_matmul_bytes, ig_gpu_qlinear_matmul;
/* A scale: there, and float. */
int ig_gpu_scale_fits(const struct ig_call *call, int k);

/* --- launch/window.c: windows of any kind --- */
ig_supports_fn ig_gpu_supports_conv_window, ig_gpu_supports_deconv_window, ig_gpu_supports_fc_window, ig_gpu_supports_conv_integer,
    ig_gpu_supports_qlinear_conv, ig_gpu_supports_pool_window, ig_gpu_supports_pool_whole, ig_gpu_supports_lrn;
ig_gpu_launch_fn ig_gpu_conv_window, ig_gpu_deconv_window, ig_gpu_fc_window, ig_gpu_conv_integer, ig_gpu_qlinear_conv,
    ig_gpu_pool_window, ig_gpu_pool_whole, ig_gpu_lrn;

/* --- launch/sample.c --- */
ig_supports_fn ig_gpu_supports_resize_any, ig_gpu_supports_deform_conv, ig_gpu_supports_roi_align, ig_gpu_supports_grid_sample,
    ig_gpu_supports_col2im, ig_gpu_supports_max_unpool;
ig_pack_fn ig_gpu_pack_resize_any;            /* struct ig_gpu_taps.table */
ig_scratch_fn ig_gpu_scratch_max_unpool;      /* the winner of each output */
ig_gpu_launch_fn ig_gpu_resize_any, ig_gpu_deform_conv, ig_gpu_roi_align, ig_gpu_grid_sample, ig_gpu_col2im, ig_gpu_max_unpool;

#endif
