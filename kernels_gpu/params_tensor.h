/*
 * Parameters of the GPU kernels for tensors of any shape and type: one struct per family, as in params.h. Tensors are
 * walked by up to IG_GPU_DIMS nested loops, outermost first: `dims` are their extents, and element i of a walk is at the
 * sum of its coordinates times the strides. Types are enum ig_type. Structs of up to 128 bytes whose arrays a kernel
 * indexes by a variable are copied to every thread's local memory by nvcc, larger ones are read where they are: kernels of
 * small ones unroll their loops over dims.
 */
#ifndef KERNELS_GPU_PARAMS_TENSOR_H
#define KERNELS_GPU_PARAMS_TENSOR_H

#include "kernels_gpu/params.h"

enum { IG_GPU_DIMS = 8, IG_GPU_MOVE_DIMS = 16, IG_GPU_BATCH_DIMS = 6, IG_GPU_TAP_DIMS = 3,
       IG_GPU_COLUMN_DIMS = 3, IG_GPU_UNPOOL_DIMS = 5,
       IG_GPU_PARTS = 9 /* inputs of a call */, IG_GPU_NORM_KEPT = 2048 /* members that a block keeps in registers */,
       IG_GPU_RECURRENT_STATE = 2048, IG_GPU_RECURRENT_WIDE_STATE = 4096, IG_GPU_RECURRENT_STATE_OF_4 = 4 * (512 + 8) /* floats of a state, of a row or four */ };

struct ig_gpu_typed {    /* elementwise.cu, convert.cu: element by element, any type */
    const void *a, *b, *c;
    void *out;
    int32_t count, n;    /* elements; loops */
    int32_t dims[IG_GPU_DIMS], a_at[IG_GPU_DIMS], b_at[IG_GPU_DIMS], c_at[IG_GPU_DIMS], out_at[IG_GPU_DIMS];
    int32_t a_type, b_type, out_type;
    int32_t kind;        /* enum ig_binary */
    struct ig_gpu_act act;
};

struct ig_gpu_quantize { /* convert.cu: parameters are one number, or one per index of an axis */
    const void *in, *scale, *zero;
    void *out;
    float *found;        /* dynamic: scale, zero */
    void *scale_out, *zero_out; /* dynamic: or NULL */
    int32_t count;
    int32_t scale_n, zero_n, inner; /* the axis' extent, or 1; elements after it; of extremes: parts */
    int32_t in_type, zero_type, out_type;
};

struct ig_gpu_qlinear_binary { /* convert.cu: sum or product of quantised operands, whose zeros are of their type */
    const void *a, *b, *a_zero, *b_zero, *y_zero;
    const float *a_scale, *b_scale, *y_scale;
    void *out;
    int32_t count, n;    /* elements, qlinear_words: words of them; loops */
    uint32_t by, shift;  /* division by the last dim, as for a copy */
    int32_t dims[IG_GPU_DIMS], a_at[IG_GPU_DIMS], b_at[IG_GPU_DIMS], out_at[IG_GPU_DIMS];
    int32_t a_type, b_type, zero_type;
    int32_t kind;        /* IG_ADD or IG_MUL */
    int32_t low, high;   /* the output's bounds */
};

struct ig_gpu_qlinear_affine { /* convert.cu: x scale[c] + offset[c] of a quantised x */
    const void *x, *zero;
    const float *scale, *offset;
    void *out;
    int32_t pixels, w, c, quads; /* w: of a row; quads: of channels, the last one may be less */
    int32_t step;        /* from a pixel of a thread to its next; so many it begins with */
    uint32_t by, shift;  /* division by quads, as for a copy */
    int32_t x_row, x_pixel, out_row, out_pixel;
    int32_t type, zero_type; /* of x; of the output and the zero */
    int32_t low, high;   /* the output's bounds */
};

struct ig_gpu_move {     /* move.cu: a strided copy */
    const void *in;
    void *out;
    int32_t count, n, bytes; /* elements; loops; bytes of an element, 1, 2, 4, 8 or 16 */
    uint32_t by, shift;        /* division by the last dim: by 0, it is 1 */
    int32_t dims[IG_GPU_MOVE_DIMS], in_at[IG_GPU_MOVE_DIMS], out_at[IG_GPU_MOVE_DIMS]; /* a tile has two loops a dim */
};

struct ig_gpu_concat {   /* move.cu: lines of the output are those of all parts, one behind the other */
    const void *in[IG_GPU_PARTS];
    void *out;
    int32_t count, n, bytes; /* elements of the output; parts; bytes of an element, as for a copy */
    int32_t width;       /* of a line of the output */
    uint32_t by, shift;  /* division by it, as for a copy */
    int32_t length[IG_GPU_PARTS], start[IG_GPU_PARTS]; /* of a part's line; where it begins in the output's */
};

struct ig_gpu_pad {      /* move.cu: `in` is what cropping leaves */
    const void *in;
    void *out;
    uint32_t value[2];   /* its bits */
    int32_t count, n, bytes, mode; /* enum ig_pad */
    int32_t dims[IG_GPU_DIMS], inside[IG_GPU_DIMS], before[IG_GPU_DIMS], in_at[IG_GPU_DIMS];
};

struct ig_gpu_gather {   /* gather.cu: gathers and scatters */
    const void *in;      /* or the updates of a scatter */
    const void *index;
    void *out;
    int32_t count, n, bytes, type, index_type, mode; /* threads' elements; loops; ...; enum ig_reduction */
    int32_t extent, stride; /* of the axis that is indexed */
    int32_t inner, taken;   /* axis: elements after it, indices; scatter_elements: updates of a line */
    int32_t tuple, run, per_batch, tuples; /* nd: indices of a tuple, elements of a slice, ... */
    int32_t dims[IG_GPU_DIMS], in_at[IG_GPU_DIMS], index_at[IG_GPU_DIMS];
};

struct ig_gpu_mark {     /* move.cu: one-hot, triangles */
    const void *in, *values;
    void *out;
    int32_t count, bytes, in_type;
    int32_t n, inner;    /* one-hot: extent of the new axis, elements after it */
    int32_t rows, columns, k, upper;
};

struct ig_gpu_line {     /* line.cu: along one axis, `inner` elements apart */
    const void *in;
    void *out;
    int32_t lines, n, inner;
    int32_t in_type, out_type;
    int32_t mode;        /* softmax */
    int32_t exclusive, reverse; /* running sum */
};

struct ig_gpu_select {   /* line.cu: the k first in order of each line */
    const void *in;
    void *values;        /* or NULL */
    int64_t *indices;    /* or NULL */
    int32_t lines, n, inner, k, type, bytes;
    int32_t smallest, last; /* order; of equal ones the last comes first */
};

struct ig_gpu_reduce {   /* reduce.cu: loops that stay, then those that go */
    const void *in;
    void *out;
    int32_t outputs, count, kept, gone; /* visits of either nest; loops of either */
    int32_t kind, type;
    int32_t wide;        /* 1: a block per output, 0: a thread */
    int32_t across;      /* columns: threads side by side; rows: threads of an output */
    int32_t chunk, joined, by; /* of a piece, elements; 1: they are pieces' results; elements of all, 0: no result yet */
    int32_t run, run_at, outer_at; /* what is reduced as up to two loops: extent and stride of the inner, stride of the outer */
    uint32_t inverse, shift; /* division by the run */
    int32_t kept_dims[IG_GPU_DIMS], kept_at[IG_GPU_DIMS], gone_dims[IG_GPU_DIMS], gone_at[IG_GPU_DIMS];
};

struct ig_gpu_norm {     /* norm.cu: loops over groups, then over the members of one */
    const float *in, *scale, *bias; /* scale, bias: or NULL */
    float *out, *shifts, *factors;  /* shifts, factors: or NULL */
    int32_t groups, count, outer, inner; /* groups, members; loops of either */
    int32_t kind, p, rank;
    float epsilon;
    int32_t dims[IG_GPU_DIMS], at[IG_GPU_DIMS];
    int32_t shape[IG_GPU_DIMS], scale_at[IG_GPU_DIMS], bias_at[IG_GPU_DIMS]; /* of the whole tensor */
    int32_t plain;       /* 1: member i of each group has scale and bias i */
};

struct ig_gpu_norm_channels { /* norm.cu: each channel of an image, pixels [pixels][c] */
    const float *in, *scale, *bias; /* scale, bias: or NULL */
    float *out, *moments, *shifts, *factors; /* moments: [pieces][3][c], count, mean and squares about it */
    int32_t pixels, c, chunk; /* of a piece, pixels; of a block that applies them, vectors */
    int32_t pieces;      /* that are joined, 0: they are being made */
    int32_t across;      /* threads side by side */
    float epsilon;
};

struct ig_gpu_recurrent { /* recurrent.cu, recurrent_spread.cu: struct ig_recurrent of graph/op.h */
    const float *x, *r, *bias, *h0, *c0, *peepholes; /* but x and r: or NULL */
    float *y, *last_h, *last_c; /* last: or NULL */
    float *states;       /* spread: three of [D,B,H] */
    int32_t turn;        /* spread: of struct ig_gpu_launch */
    int32_t steps, directions, batch, hidden;
    int32_t room;        /* of a row's state, floats: its units, and zeros */
    int32_t units;       /* that eight lanes have one after the other */
    int32_t quads;       /* R may be read by them; spread: and h0 */
    int32_t kind, reverse /* bits */, reset_after, input_forget;
    float clip;          /* 0: none */
    struct ig_gpu_act f, g, u;
};

struct ig_gpu_matmul {   /* matmul.cu */
    const void *a, *b;
    void *out;
    int32_t m, n, k, a_m, a_k, b_k, b_n; /* strides: from a row or a column to the next */
    int32_t batches, loops, type;
    float alpha;
    int32_t dims[IG_GPU_BATCH_DIMS], a_at[IG_GPU_BATCH_DIMS], b_at[IG_GPU_BATCH_DIMS];
};

struct ig_gpu_scaled {   /* one parameter of a quantised operator; count 1: for all */
    int32_t type, count; /* count 0: absent, which is 0 */
};

struct ig_gpu_matmul_bytes { /* matmul.cu: quantised operands */
    const void *a, *b, *a_zero, *b_zero;
    const float *a_scale, *b_scale, *y_scale; /* a_scale NULL: the sum itself is the output; y_scale NULL: a float, b_scale may be then */
    const void *y_zero;
    const float *bias;   /* of floats, or NULL */
    void *out;
    int32_t m, n, k, a_m, a_k, b_k, b_n, count, loops;
    int32_t a_type, b_type, out_type, y_zero_type;
    struct ig_gpu_scaled za, zb;
    int32_t a_scales, b_scales;
    struct ig_gpu_act act; /* of floats */
    int32_t dims[IG_GPU_BATCH_DIMS], a_at[IG_GPU_BATCH_DIMS], b_at[IG_GPU_BATCH_DIMS];
};

struct ig_gpu_axes {     /* a window over three dims: taps, stride, dilation, padding before */
    int32_t k[3], s[3], d[3], before[3];
};

struct ig_gpu_window {   /* window.cu: convolution and transposed convolution of any kind, fully connected */
    const void *in, *weights, *bias, *residual; /* bias, residual: or NULL */
    void *out;
    int32_t in_d, in_h, in_w, in_row, in_pixel, out_h, out_w, out_row, out_pixel, residual_row, residual_pixel; /* h of
                                                                                           one depth */
    int32_t count, channels; /* outputs; of all groups */
    int32_t ic, oc;      /* channels of a group */
    int32_t weight_group, weight_out, weight_in; /* elements from one to the next; taps are 1 apart */
    int32_t in_type, weight_type, bias_type, residual_type, out_type;
    int32_t transposed;
    struct ig_gpu_axes w;
    struct ig_gpu_act act;
};

struct ig_gpu_window_bytes { /* window.cu: quantised operands */
    const void *in, *weights, *in_zero, *weight_zero;
    const float *in_scale, *weight_scale, *out_scale; /* in_scale NULL: the sum is the output; out_scale NULL: a float, weight_scale may be then */
    const void *out_zero;
    const void *bias;    /* i32, of floats f32; or NULL */
    void *out;
    int32_t in_d, in_h, in_w, in_row, in_pixel, out_h, out_w, out_row, out_pixel;
    int32_t count, channels, ic, oc;
    int32_t in_type, weight_type, out_type, out_zero_type;
    struct ig_gpu_scaled zx, zw;
    int32_t weight_scales;
    int32_t low, high;   /* the output's bounds */
    struct ig_gpu_act act; /* of floats */
    struct ig_gpu_axes w;
};

struct ig_gpu_pools {    /* window.cu: pooling of any kind, and over whole images */
    const void *in;
    void *out;
    int64_t *index;      /* or NULL */
    int32_t in_d, in_h, in_w, in_row, in_pixel, out_h, out_w, out_row, out_pixel, index_row, index_pixel;
    int32_t count, c, in_type, out_type;
    int32_t kind, p, column_major, first; /* enum ig_pool_kind; ...; planes before this image's */
    int32_t counted[3];  /* where the explicit padding ends; 0: padding is not counted */
    struct ig_gpu_axes w;
};

struct ig_gpu_average {  /* pool_bytes.cu: quantised numbers over windows; scales and zeros for averages */
    const void *in, *in_zero, *out_zero;
    const float *in_scale, *out_scale;
    void *out;
    int32_t *sums;       /* [piece][pixel][c] where there are several pieces */
    int32_t in_d, in_h, in_w, in_row, in_pixel, out_h, out_w, out_row, out_pixel;
    int32_t pixels, c;   /* of the output */
    int32_t pieces, chunk; /* of a window, taps of a piece */
    int32_t in_type, out_type; /* and of their zeros */
    int32_t counted[3];  /* where the explicit padding ends; 0: padding is not counted */
    struct ig_gpu_axes w;
};

struct ig_gpu_lrn {      /* window.cu */
    const float *in;
    float *out;
    int32_t w, c, count, in_row, in_pixel, out_row, out_pixel;
    int32_t before, after;
    float scale, beta, bias; /* scale: alpha / size */
};

struct ig_gpu_tap { int32_t at; float weight; };

struct ig_gpu_taps {     /* sample.cu: resize by tables */
    const void *in;
    const struct ig_gpu_tap *table; /* for each dim that changes, each output index: its taps; at < 0: outside */
    void *out;
    int32_t count, n, type, move; /* move: one tap in each dim, which is copied */
    float outside;
    int32_t dims[IG_GPU_DIMS], in_at[IG_GPU_DIMS], out_at[IG_GPU_DIMS]; /* in_at 0: of a dim that changes */
    int32_t changing, dim[IG_GPU_TAP_DIMS], taps[IG_GPU_TAP_DIMS], first[IG_GPU_TAP_DIMS], stride[IG_GPU_TAP_DIMS];
    int32_t from;         /* type of the input */
};

struct ig_gpu_deform {   /* sample.cu; planes of ONNX's layout */
    const float *in, *weights, *offset, *bias, *mask; /* bias, mask: or NULL */
    float *out;
    int32_t count, channels, in_h, in_w, out_c, out_h, out_w;
    int32_t group_in, group_out, offset_groups; /* channels of a group */
    int32_t kh, kw, sh, sw, dh, dw, top, left;
};

struct ig_gpu_roi {      /* sample.cu */
    const float *in, *rois;
    const void *images;
    float *out;
    int32_t count, n, c, h, w, out_h, out_w, index_type;
    int32_t mode, half_pixel, sampling;
    float scale;
};

struct ig_gpu_grid {     /* sample.cu */
    const float *in, *grid;
    float *out;
    int32_t count, c, points, rank, in_dims[3]; /* rank: spatial dims, the last of in_dims */
    int32_t mode, padding, align_corners;
};

struct ig_gpu_columns {  /* sample.cu: columns to an image */
    const float *in;
    float *out;
    int32_t count, rank, pixels, taps, columns;
    int32_t image[IG_GPU_COLUMN_DIMS], block[IG_GPU_COLUMN_DIMS], dilation[IG_GPU_COLUMN_DIMS];
    int32_t begin[IG_GPU_COLUMN_DIMS], stride[IG_GPU_COLUMN_DIMS], positions[IG_GPU_COLUMN_DIMS];
};

struct ig_gpu_unpool {   /* sample.cu: whose index is the last to name an output, then the outputs */
    const float *in;
    const int64_t *index;
    float *out;
    int32_t *winner;
    int32_t inputs, outputs, rank;
    int32_t dims[IG_GPU_UNPOOL_DIMS], out_dims[IG_GPU_UNPOOL_DIMS];
};

#endif
