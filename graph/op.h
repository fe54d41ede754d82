/*
 * Operator vocabulary: what a node of the graph computes, after import.
 *
 * The set is smaller than ONNX's: the importer maps many ONNX operators on one op and a kind (Relu,
 * Exp and Erf are IG_UNARY; Add, Equal and PRelu are IG_BINARY), and turns shape-only operators into
 * IG_RESHAPE. Attributes are plain structs of int32_t/int64_t/float members in a union; graph/op.c
 * describes their fields, so that JSON, C tables and printing need no code per op.
 *
 * Layout: from the layout pass on, every spatial op reads and writes channels-last tensors,
 * [N,C] + spatial dims last-to-first as ONNX has them becoming [N,(D,)(H,)W,C]. Weights keep ONNX's
 * order (see each op); packing happens in kernels_cpu/pack/.
 */
#ifndef GRAPH_OP_H
#define GRAPH_OP_H

#include <stddef.h>
#include <stdint.h>

enum ig_op {
    /* spatial: channels-last data, attributes in struct ig_conv / ig_pool / ... */
    IG_CONV = 0,       /* x, w [OC, IC/groups, (KD,)(KH,)KW], bias [OC] or none, residual (as output) or none */
    IG_DECONV,         /* x, w [IC, OC/groups, (KD,)(KH,)KW], bias or none */
    IG_POOL,           /* x -> y (, indices i64 for max); averages of bytes: x, x_scale, x_zero, y_scale, y_zero */
    IG_GLOBAL_POOL,    /* x [N,...,C] -> [N,1..,C] */
    IG_LRN,            /* across channels */
    IG_RESIZE,         /* any layout: per-dimension scales */
    IG_CONV_INTEGER,   /* x u8/i8, w, x_zero or none, w_zero or none -> i32 sum; with x_scale f32 [] -> f32: act(sum (x_scale w_scale) + bias),
                          each step rounded; w_scale f32 [] or [OC], or none: 1; bias f32 [OC] or none */
    IG_QLINEAR_CONV,   /* x, x_scale, x_zero, w, w_scale, w_zero, y_scale, y_zero, bias i32 or none; act: none, or a clip
                          of the quantised output between integers. y_zero f32: y is the float that would be rounded, act is none */
    IG_DEFORM_CONV,    /* x, w, offset, bias or none, mask or none: plain ONNX layout (NCHW) */
    IG_MAX_UNPOOL,     /* x, indices: plain ONNX layout */
    IG_ROI_ALIGN,      /* x [N,H,W,C], rois [n,4], batch_indices [n] -> [n,h,w,C]; in ONNX's layout before the layout pass */
    IG_GRID_SAMPLE,    /* x, grid: plain ONNX layout */
    IG_COL2IM,         /* plain ONNX layout */
    /* dense */
    IG_FC,             /* x [M,K], w [N,K] constant, bias [N] or none, residual or none -> [M,N] */
    IG_MATMUL,         /* numpy matmul of runtime tensors, batch broadcast; optional transposes and scale */
    IG_MATMUL_INTEGER, /* a, b, a_zero or none, b_zero or none -> i32; with a_scale, b_scale or none, bias [N] or none -> f32, as above */
    IG_QLINEAR_MATMUL, /* a, a_scale, a_zero, b, b_scale, b_zero, y_scale, y_zero */
    /* element-wise */
    IG_UNARY,          /* enum ig_unary */
    IG_BINARY,         /* enum ig_binary; numpy broadcasting; then an activation */
    IG_WHERE,          /* condition bool, a, b; numpy broadcasting */
    IG_CAST,           /* to the output's type */
    IG_QUANTIZE,       /* x, scale, zero or none; scale per tensor or per `axis` */
    IG_DEQUANTIZE,     /* the same */
    IG_DYNAMIC_QUANTIZE, /* x -> y u8, scale f32 [], zero u8 [] */
    IG_EXTREMES,       /* x f32 -> f32 [P,2]: the least and the largest, 0 too, of each of P stretches of ceil(elements / P); no number is none */
    IG_QLINEAR_BINARY, /* a, a_scale, a_zero, b, b_scale, b_zero, y_scale, y_zero: a and b of one shape, or b one pixel of
                          each image; one parameter each; add or mul; act: none, or a clip of the quantised output between integers */
    IG_QLINEAR_AFFINE, /* x u8 or i8, scale f32 [C], offset f32 [C], y_zero: saturate(round(x scale[c] + offset[c]) + y_zero);
                          act as above */
    IG_LOOKUP,         /* x u8 or i8, table [256] of the output's type: y[i] = table[x[i]], by the byte as it is stored */
    /* along axes */
    IG_SOFTMAX,        /* enum ig_softmax over one axis */
    IG_REDUCE,         /* enum ig_reduce over the axes in `mask` */
    IG_ARG,            /* arg max / arg min -> i64 */
    IG_NORM,           /* enum ig_norm: x, scale or none, bias or none */
    IG_CUMSUM,         /* x; axis constant in attributes */
    IG_TOPK,           /* x -> values, indices i64; k is the output's dim */
    IG_RECURRENT,      /* gates, R, bias or none, h0 or none, c0 or none, peepholes or none -> Y (, last h (, last c)): struct ig_recurrent */
    /* data movement */
    IG_RESHAPE,        /* same elements in the same order; usually a view */
    IG_TRANSPOSE,      /* permutation */
    IG_CONCAT,         /* any number of inputs, axis */
    IG_SLICE,          /* start and step per dimension */
    IG_PAD,            /* begin/end per dimension (may be negative), enum ig_pad, value */
    IG_EXPAND,         /* numpy broadcast to the output's shape */
    IG_TILE,           /* repeat counts = output dims / input dims */
    IG_GATHER,         /* x, indices i32/i64; axis */
    IG_GATHER_ELEMENTS,
    IG_GATHER_ND,      /* batch_dims in `axis` */
    IG_SCATTER_ELEMENTS, /* x, indices, updates; axis; reduction */
    IG_SCATTER_ND,     /* x, indices, updates; reduction */
    IG_ONE_HOT,        /* indices, values [off,on]; axis; depth is the output's dim */
    IG_TRIU,           /* Trilu: diagonal k, upper or lower */
    IG_COPY,           /* same shape; made by the compiler where a view will not do */
    IG_OPS
};

enum ig_unary { /* a, b: struct ig_act.alpha, .beta */
    IG_NONE = 0, /* y = x */
    IG_RELU,
    IG_CLIP,         /* min(max(x, a), b) */
    IG_LEAKY_RELU,   /* x < 0 ? a x : x */
    IG_SIGMOID,
    IG_TANH,
    IG_HARD_SIGMOID, /* clamp(a x + b, 0, 1) */
    IG_HARD_SWISH,   /* x clamp(x/6 + 1/2, 0, 1) */
    IG_SWISH,        /* x sigmoid(a x) */
    IG_ELU,          /* x < 0 ? a (e^x - 1) : x */
    IG_MISH,         /* x tanh(ln(1 + e^x)) */
    IG_SOFTPLUS,     /* ln(1 + e^x) */
    IG_GELU,         /* exact: x (1 + erf(x/sqrt 2))/2 */
    IG_GELU_TANH,    /* x (1 + tanh(sqrt(2/pi) (x + 0.044715 x^3)))/2 */
    IG_FUSABLE,      /* kinds below this one may be a convolution's epilogue */
    IG_SELU = IG_FUSABLE, /* b (x < 0 ? a (e^x - 1) : x) */
    IG_CELU,         /* max(0,x) + min(0, a (e^(x/a) - 1)) */
    IG_SOFTSIGN,
    IG_THRESHOLDED_RELU, /* x > a ? x : 0 */
    IG_SHRINK,       /* x < -a ? x + b : x > a ? x - b : 0 */
    IG_AFFINE,       /* a x + b */
    IG_ABS, IG_NEG, IG_CEIL, IG_FLOOR, IG_ROUND /* half to even */, IG_SIGN, IG_RECIPROCAL, IG_SQRT,
    IG_EXP, IG_LOG, IG_ERF, IG_SIN, IG_COS, IG_TAN, IG_ASIN, IG_ACOS, IG_ATAN,
    IG_SINH, IG_COSH, IG_ASINH, IG_ACOSH, IG_ATANH,
    IG_NOT,          /* bool */
    IG_ISINF,        /* a: detect negative, b: detect positive; -> bool */
    IG_ISNAN,        /* -> bool */
    IG_BITWISE_NOT,
    IG_UNARIES
};

enum ig_binary {
    IG_ADD = 0, IG_SUB, IG_MUL, IG_DIV /* integers truncate */, IG_MAX, IG_MIN, IG_POW,
    IG_MOD,   /* sign of the divisor (Python) */
    IG_FMOD,  /* sign of the dividend (C) */
    IG_PRELU, /* x < 0 ? slope x : x; inputs x, slope */
    IG_EQUAL, IG_GREATER, IG_GREATER_EQUAL, IG_LESS, IG_LESS_EQUAL, /* -> bool */
    IG_AND, IG_OR, IG_XOR, /* bool */
    IG_BIT_AND, IG_BIT_OR, IG_BIT_XOR, IG_SHIFT_LEFT, IG_SHIFT_RIGHT,
    IG_BINARIES
};

enum ig_pool_kind { IG_POOL_MAX = 0, IG_POOL_AVERAGE, IG_POOL_LP };
enum ig_softmax_kind { IG_SOFTMAX_EXP = 0, IG_SOFTMAX_LOG, IG_SOFTMAX_HARD };
enum ig_reduce_kind {
    IG_REDUCE_SUM = 0, IG_REDUCE_MEAN, IG_REDUCE_MAX, IG_REDUCE_MIN, IG_REDUCE_PROD, IG_REDUCE_L1,
    IG_REDUCE_L2, IG_REDUCE_SUM_SQUARE, IG_REDUCE_LOG_SUM, IG_REDUCE_LOG_SUM_EXP
};
enum ig_norm_kind {
    IG_NORM_LAYER = 0, /* over dims [axis, rank): (x - mean)/sqrt(var + eps) scale + bias */
    IG_NORM_RMS,       /* over dims [axis, rank): x/sqrt(mean(x^2) + eps) scale */
    IG_NORM_LP,        /* along `axis`: x/(sum |x|^p)^(1/p) */
    IG_NORM_INSTANCE,  /* channels-last: per n, c over space; scale, bias [C] */
    IG_NORM_GROUP,     /* channels-last: per n, group of C/groups channels; scale, bias [C] */
    IG_NORM_MVN        /* over the axes in `mask`: (x - mean)/(sqrt(var) + eps) */
};
enum ig_pad_kind { IG_PAD_CONSTANT = 0, IG_PAD_REFLECT, IG_PAD_EDGE, IG_PAD_WRAP };
enum ig_reduction { IG_SCATTER_NONE = 0, IG_SCATTER_ADD, IG_SCATTER_MUL, IG_SCATTER_MAX, IG_SCATTER_MIN };
enum ig_resize_mode { IG_NEAREST = 0, IG_LINEAR, IG_CUBIC };
enum ig_resize_coord {
    IG_HALF_PIXEL = 0, IG_ASYMMETRIC, IG_PYTORCH_HALF_PIXEL, IG_ALIGN_CORNERS, IG_TF_CROP_AND_RESIZE,
    IG_HALF_PIXEL_SYMMETRIC, IG_TF_HALF_PIXEL_FOR_NN
};
enum ig_nearest_mode { IG_ROUND_PREFER_FLOOR = 0, IG_ROUND_PREFER_CEIL, IG_NEAREST_FLOOR, IG_NEAREST_CEIL };
enum ig_sample_padding { IG_SAMPLE_ZEROS = 0, IG_SAMPLE_BORDER, IG_SAMPLE_REFLECTION };

struct ig_act {    /* an activation; kind IG_NONE does nothing */
    int32_t kind;  /* enum ig_unary */
    float alpha, beta;
};

struct ig_window { /* a sliding window over up to three spatial dims; unused ones have k = s = d = 1, pad 0 */
    int32_t kd, kh, kw;             /* kernel extent, elements */
    int32_t sd, sh, sw;             /* stride */
    int32_t dd, dh, dw;             /* dilation */
    int32_t front, top, left;       /* padding before */
    int32_t back, bottom, right;    /* padding after; may be negative for IG_DECONV only */
    int32_t in_d, out_d;            /* depth of input and output image, 1 if not 3-D */
};

struct ig_conv {
    struct ig_window w;
    int32_t groups;
    struct ig_act act;              /* after bias and residual */
};

struct ig_pool {
    struct ig_window w;
    int32_t kind;                   /* enum ig_pool_kind */
    int32_t count_include_pad;      /* average: divide by the window within the explicit padding */
    int32_t p;                      /* IG_POOL_LP */
    int32_t column_major;           /* indices: storage_order = 1 */
    int32_t ceil_d, ceil_h, ceil_w; /* how much of back, bottom, right is ceil_mode's overhang: never counted */
};

struct ig_global_pool { int32_t kind, p; };
struct ig_lrn { int32_t size; float alpha, beta, bias; };

struct ig_resize {
    int32_t mode, coord, nearest, exclude_outside, antialias;
    float cubic_a, extrapolation;
    float scale[8];                 /* per dimension of the data; 1 = untouched */
    float roi_begin[8], roi_end[8]; /* IG_TF_CROP_AND_RESIZE */
};

struct ig_deform {
    struct ig_window w;
    int32_t groups, offset_groups;
};

enum ig_roi {
    IG_ROI_AVERAGE = 0, IG_ROI_MAX, /* of samples between pixels */
    IG_ROI_POOL                     /* the largest of whole pixels: MaxRoiPool */
};

struct ig_roi_align { int32_t mode, half_pixel, sampling; float spatial_scale; };
struct ig_grid_sample { int32_t mode, padding, align_corners; };
struct ig_col2im { int32_t image[3], block[3], dilation[3], begin[3], end[3], stride[3], rank; };

struct ig_fc { struct ig_act act; };
struct ig_matmul { int32_t trans_a, trans_b; float alpha; };
struct ig_unary_attr { struct ig_act act; };
struct ig_binary_attr { int32_t kind; struct ig_act act; };
struct ig_axis { int32_t axis, mode; }; /* softmax kind, quantise axis, concat/gather axis, scatter reduction, ... */
struct ig_reduce { int32_t kind, mask; /* bit i: reduce dimension i */ };
struct ig_arg { int32_t axis, min, select_last; };
struct ig_norm { int32_t kind, axis, groups, p, mask; float epsilon; };
struct ig_cumsum { int32_t axis, exclusive, reverse; };
struct ig_topk { int32_t axis, largest; };

enum ig_recurrent_kind { IG_RNN = 0, IG_GRU, IG_LSTM };
enum { IG_DIRECTIONS = 2 };

/*
 * A recurrent layer, f32, behind the product of its input. Of T steps, B rows of a batch, D directions, H units, G gates of each:
 *   gates     [T,B,D G H]  x of the formulas: X W' + all biases that are only added
 *   R         [D,G H,H]    rows in the order of the gates
 *   bias      [D,H]        of the GRU's gate h where reset_after, or none: 0; of others none
 *   h0, c0    [D,B,H]      h and c (LSTM) before the first step; none: 0
 *   peepholes [D,3 H]      LSTM: of i, o, f; or none
 *   -> Y [T,D,B,H] (always there), Y[t] = h; last h [D,B,H]; last c [D,B,H] (LSTM)
 * Directions and rows of the batch know nothing of each other. A direction's steps go from t = 0 up, or from T-1 down; "last" is of the
 * last step made. Per step, with h and c of the step before, products by element, and arguments of f and g clipped to [-clip, clip]
 * where clip is above 0 (u's are not: as in onnxruntime):
 *   RNN, G = 1      h = f(x + R h)
 *   GRU, G = 3      gates z, r, h: z = f(x_z + R_z h), r = f(x_r + R_r h); n = g(x_h + R_h (r h)), or with reset_after
 *                   n = g(x_h + r (R_h h + bias)); h = (1 - z) n + z h
 *   LSTM, G = 4     gates i, o, f, c: i = f(x_i + R_i h + P_i c), f = f(x_f + R_f h + P_f c), or with input_forget 1 - i;
 *                   c = f c + i g(x_c + R_c h); o = f(x_o + R_o h + P_o c), of the new c; h = o u(c)
 */
struct ig_recurrent {
    int32_t kind;         /* enum ig_recurrent_kind */
    int32_t reverse;      /* bit d: direction d goes down; there are IG_DIRECTIONS at most */
    int32_t reset_after, input_forget;
    float clip;           /* 0: none */
    struct ig_act f, g, u; /* kinds below IG_FUSABLE; of those that the kind has */
};

static inline int32_t ig_gates_of(const struct ig_recurrent *a)
{
    return a->kind == IG_LSTM ? 4 : a->kind == IG_GRU ? 3 : 1;
}

struct ig_transpose { int32_t perm[8]; /* output dim i is input dim perm[i] */ };
struct ig_slice { int32_t start[8], step[8]; /* per input dim; extent is the output's; steps may be negative */ };
struct ig_pad { int32_t begin[8], end[8], mode; float value; /* integers: exact below 2^24 */ };
struct ig_triu { int32_t k, upper; };

union ig_attrs {
    struct ig_conv conv;            /* IG_CONV, IG_DECONV, IG_CONV_INTEGER, IG_QLINEAR_CONV */
    struct ig_pool pool;            /* IG_POOL, IG_MAX_UNPOOL */
    struct ig_global_pool global_pool;
    struct ig_lrn lrn;
    struct ig_resize resize;
    struct ig_deform deform;
    struct ig_roi_align roi_align;
    struct ig_grid_sample grid_sample;
    struct ig_col2im col2im;
    struct ig_fc fc;                /* IG_FC, IG_MATMUL_INTEGER */
    struct ig_matmul matmul;
    struct ig_unary_attr unary;     /* IG_UNARY, IG_QLINEAR_AFFINE */
    struct ig_binary_attr binary;   /* IG_BINARY, IG_QLINEAR_BINARY */
    struct ig_axis axis; /* IG_SOFTMAX, IG_CONCAT, IG_GATHER*, IG_SCATTER_*, IG_ONE_HOT, IG_QUANTIZE, IG_DEQUANTIZE */
    struct ig_reduce reduce;
    struct ig_arg arg;
    struct ig_norm norm;
    struct ig_cumsum cumsum;
    struct ig_topk topk;
    struct ig_recurrent recurrent;
    struct ig_transpose transpose;
    struct ig_slice slice;
    struct ig_pad pad;
    struct ig_triu triu;
};

struct ig_field {       /* one member of an attribute struct */
    const char *name;   /* C spelling, e.g. "w.kh" */
    uint16_t offset;    /* bytes from the start of the struct */
    uint8_t is_float;   /* float, else int32_t */
    uint8_t count;      /* array length; 1 for a scalar */
};

struct ig_op_info {
    const char *name;       /* "conv": lower case, stable, used in JSON */
    const char *struct_tag; /* "ig_conv": the attribute struct, or NULL */
    const struct ig_field *fields;
    int32_t n_fields;
};

/* Description of `op`; never NULL for 0 <= op < IG_OPS. */
const struct ig_op_info *ig_op_info(enum ig_op op);
/* The op named `name`, or IG_OPS. */
enum ig_op ig_op_by_name(const char *name);
/* "relu", "add", ...: stable names for reports. */
const char *ig_unary_name(int32_t kind);
const char *ig_binary_name(int32_t kind);

#endif
