/* Field tables of the attribute structs of graph/op.h. */
#include "graph/op.h"

#include <string.h>

#define I(s, m) {#m, offsetof(struct s, m), 0, 1}
#define F(s, m) {#m, offsetof(struct s, m), 1, 1}
#define IA(s, m, n) {#m, offsetof(struct s, m), 0, n}
#define FA(s, m, n) {#m, offsetof(struct s, m), 1, n}
#define WINDOW(s)                                                                                             \
    I(s, w.kd), I(s, w.kh), I(s, w.kw), I(s, w.sd), I(s, w.sh), I(s, w.sw), I(s, w.dd), I(s, w.dh), I(s, w.dw), \
        I(s, w.front), I(s, w.top), I(s, w.left), I(s, w.back), I(s, w.bottom), I(s, w.right), I(s, w.in_d),   \
        I(s, w.out_d)
#define ACT(s) I(s, act.kind), F(s, act.alpha), F(s, act.beta)

static const struct ig_field conv[] = {WINDOW(ig_conv), I(ig_conv, groups), ACT(ig_conv)};
static const struct ig_field pool[] = {WINDOW(ig_pool), I(ig_pool, kind), I(ig_pool, count_include_pad),
                                       I(ig_pool, p), I(ig_pool, column_major), I(ig_pool, ceil_d),
                                       I(ig_pool, ceil_h), I(ig_pool, ceil_w)};
static const struct ig_field global_pool[] = {I(ig_global_pool, kind), I(ig_global_pool, p)};
static const struct ig_field lrn[] = {I(ig_lrn, size), F(ig_lrn, alpha), F(ig_lrn, beta), F(ig_lrn, bias)};
static const struct ig_field resize[] = {
    I(ig_resize, mode), I(ig_resize, coord), I(ig_resize, nearest), I(ig_resize, exclude_outside),
    I(ig_resize, antialias), F(ig_resize, cubic_a), F(ig_resize, extrapolation), FA(ig_resize, scale, 8),
    FA(ig_resize, roi_begin, 8), FA(ig_resize, roi_end, 8)};
static const struct ig_field deform[] = {WINDOW(ig_deform), I(ig_deform, groups), I(ig_deform, offset_groups)};
static const struct ig_field roi_align[] = {I(ig_roi_align, mode), I(ig_roi_align, half_pixel),
                                            I(ig_roi_align, sampling), F(ig_roi_align, spatial_scale)};
static const struct ig_field grid_sample[] = {I(ig_grid_sample, mode), I(ig_grid_sample, padding),
                                              I(ig_grid_sample, align_corners)};
static const struct ig_field col2im[] = {IA(ig_col2im, image, 3), IA(ig_col2im, block, 3),
                                         IA(ig_col2im, dilation, 3), IA(ig_col2im, begin, 3),
                                         IA(ig_col2im, end, 3), IA(ig_col2im, stride, 3), I(ig_col2im, rank)};
static const struct ig_field fc[] = {ACT(ig_fc)};
static const struct ig_field matmul[] = {I(ig_matmul, trans_a), I(ig_matmul, trans_b), F(ig_matmul, alpha)};
static const struct ig_field unary[] = {ACT(ig_unary_attr)};
static const struct ig_field binary[] = {I(ig_binary_attr, kind), ACT(ig_binary_attr)};
static const struct ig_field axis[] = {I(ig_axis, axis), I(ig_axis, mode)};
static const struct ig_field reduce[] = {I(ig_reduce, kind), I(ig_reduce, mask)};
static const struct ig_field arg[] = {I(ig_arg, axis), I(ig_arg, min), I(ig_arg, select_last)};
static const struct ig_field norm[] = {I(ig_norm, kind), I(ig_norm, axis), I(ig_norm, groups),
                                       I(ig_norm, p), I(ig_norm, mask), F(ig_norm, epsilon)};
static const struct ig_field cumsum[] = {I(ig_cumsum, axis), I(ig_cumsum, exclusive), I(ig_cumsum, reverse)};
static const struct ig_field topk[] = {I(ig_topk, axis), I(ig_topk, largest)};
#define ACT_OF(m) I(ig_recurrent, m.kind), F(ig_recurrent, m.alpha), F(ig_recurrent, m.beta)
static const struct ig_field recurrent[] = {I(ig_recurrent, kind), I(ig_recurrent, reverse), I(ig_recurrent, reset_after),
                                            I(ig_recurrent, input_forget), F(ig_recurrent, clip), ACT_OF(f), ACT_OF(g), ACT_OF(u)};
static const struct ig_field transpose[] = {IA(ig_transpose, perm, 8)};
static const struct ig_field slice[] = {IA(ig_slice, start, 8), IA(ig_slice, step, 8)};
static const struct ig_field pad[] = {IA(ig_pad, begin, 8), IA(ig_pad, end, 8), I(ig_pad, mode), F(ig_pad, value)};
static const struct ig_field triu[] = {I(ig_triu, k), I(ig_triu, upper)};

#define WITH(name, tag, table) {name, tag, table, sizeof table / sizeof *table}
#define BARE(name) {name, NULL, NULL, 0}

static const struct ig_op_info infos[IG_OPS] = {
    [IG_CONV] = WITH("conv", "ig_conv", conv),
    [IG_DECONV] = WITH("deconv", "ig_conv", conv),
    [IG_POOL] = WITH("pool", "ig_pool", pool),
    [IG_GLOBAL_POOL] = WITH("global_pool", "ig_global_pool", global_pool),
    [IG_LRN] = WITH("lrn", "ig_lrn", lrn),
    [IG_RESIZE] = WITH("resize", "ig_resize", resize),
    [IG_CONV_INTEGER] = WITH("conv_integer", "ig_conv", conv),
    [IG_QLINEAR_CONV] = WITH("qlinear_conv", "ig_conv", conv),
    [IG_DEFORM_CONV] = WITH("deform_conv", "ig_deform", deform),
    [IG_MAX_UNPOOL] = WITH("max_unpool", "ig_pool", pool),
    [IG_ROI_ALIGN] = WITH("roi_align", "ig_roi_align", roi_align),
    [IG_GRID_SAMPLE] = WITH("grid_sample", "ig_grid_sample", grid_sample),
    [IG_COL2IM] = WITH("col2im", "ig_col2im", col2im),
    [IG_FC] = WITH("fc", "ig_fc", fc),
    [IG_MATMUL] = WITH("matmul", "ig_matmul", matmul),
    [IG_MATMUL_INTEGER] = WITH("matmul_integer", "ig_fc", fc),
    [IG_QLINEAR_MATMUL] = BARE("qlinear_matmul"),
    [IG_UNARY] = WITH("unary", "ig_unary_attr", unary),
    [IG_BINARY] = WITH("binary", "ig_binary_attr", binary),
    [IG_WHERE] = BARE("where"),
    [IG_CAST] = BARE("cast"),
    [IG_QUANTIZE] = WITH("quantize", "ig_axis", axis),
    [IG_DEQUANTIZE] = WITH("dequantize", "ig_axis", axis),
    [IG_DYNAMIC_QUANTIZE] = BARE("dynamic_quantize"),
    [IG_EXTREMES] = BARE("extremes"),
    [IG_QLINEAR_BINARY] = WITH("qlinear_binary", "ig_binary_attr", binary),
    [IG_QLINEAR_AFFINE] = WITH("qlinear_affine", "ig_unary_attr", unary),
    [IG_LOOKUP] = BARE("lookup"),
    [IG_SOFTMAX] = WITH("softmax", "ig_axis", axis),
    [IG_REDUCE] = WITH("reduce", "ig_reduce", reduce),
    [IG_ARG] = WITH("arg", "ig_arg", arg),
    [IG_NORM] = WITH("norm", "ig_norm", norm),
    [IG_CUMSUM] = WITH("cumsum", "ig_cumsum", cumsum),
    [IG_TOPK] = WITH("topk", "ig_topk", topk),
    [IG_RECURRENT] = WITH("recurrent", "ig_recurrent", recurrent),
    [IG_RESHAPE] = BARE("reshape"),
    [IG_TRANSPOSE] = WITH("transpose", "ig_transpose", transpose),
    [IG_CONCAT] = WITH("concat", "ig_axis", axis),
    [IG_SLICE] = WITH("slice", "ig_slice", slice),
    [IG_PAD] = WITH("pad", "ig_pad", pad),
    [IG_EXPAND] = BARE("expand"),
    [IG_TILE] = BARE("tile"),
    [IG_GATHER] = WITH("gather", "ig_axis", axis),
    [IG_GATHER_ELEMENTS] = WITH("gather_elements", "ig_axis", axis),
    [IG_GATHER_ND] = WITH("gather_nd", "ig_axis", axis),
    [IG_SCATTER_ELEMENTS] = WITH("scatter_elements", "ig_axis", axis),
    [IG_SCATTER_ND] = WITH("scatter_nd", "ig_axis", axis),
    [IG_ONE_HOT] = WITH("one_hot", "ig_axis", axis),
    [IG_TRIU] = WITH("triu", "ig_triu", triu),
    [IG_COPY] = BARE("copy"),
};

static const char *const unaries[IG_UNARIES] = {
    [IG_NONE] = "none", [IG_RELU] = "relu", [IG_CLIP] = "clip", [IG_LEAKY_RELU] = "leaky_relu",
    [IG_SIGMOID] = "sigmoid", [IG_TANH] = "tanh", [IG_HARD_SIGMOID] = "hard_sigmoid",
    [IG_HARD_SWISH] = "hard_swish", [IG_SWISH] = "swish", [IG_ELU] = "elu", [IG_MISH] = "mish",
    [IG_SOFTPLUS] = "softplus", [IG_GELU] = "gelu", [IG_GELU_TANH] = "gelu_tanh", [IG_SELU] = "selu", [IG_CELU] = "celu",
    [IG_SOFTSIGN] = "softsign", [IG_THRESHOLDED_RELU] = "thresholded_relu",
    [IG_SHRINK] = "shrink", [IG_AFFINE] = "affine", [IG_ABS] = "abs", [IG_NEG] = "neg", [IG_CEIL] = "ceil",
    [IG_FLOOR] = "floor", [IG_ROUND] = "round", [IG_SIGN] = "sign", [IG_RECIPROCAL] = "reciprocal",
    [IG_SQRT] = "sqrt", [IG_EXP] = "exp", [IG_LOG] = "log", [IG_ERF] = "erf", [IG_SIN] = "sin",
    [IG_COS] = "cos", [IG_TAN] = "tan", [IG_ASIN] = "asin", [IG_ACOS] = "acos", [IG_ATAN] = "atan",
    [IG_SINH] = "sinh", [IG_COSH] = "cosh", [IG_ASINH] = "asinh", [IG_ACOSH] = "acosh",
    [IG_ATANH] = "atanh", [IG_NOT] = "not", [IG_ISINF] = "isinf", [IG_ISNAN] = "isnan",
    [IG_BITWISE_NOT] = "bitwise_not",
};

static const char *const binaries[IG_BINARIES] = {
    [IG_ADD] = "add", [IG_SUB] = "sub", [IG_MUL] = "mul", [IG_DIV] = "div", [IG_MAX] = "max",
    [IG_MIN] = "min", [IG_POW] = "pow", [IG_MOD] = "mod", [IG_FMOD] = "fmod", [IG_PRELU] = "prelu",
    [IG_EQUAL] = "equal", [IG_GREATER] = "greater", [IG_GREATER_EQUAL] = "greater_equal",
    [IG_LESS] = "less", [IG_LESS_EQUAL] = "less_equal", [IG_AND] = "and", [IG_OR] = "or",
    [IG_XOR] = "xor", [IG_BIT_AND] = "bit_and", [IG_BIT_OR] = "bit_or", [IG_BIT_XOR] = "bit_xor",
    [IG_SHIFT_LEFT] = "shift_left", [IG_SHIFT_RIGHT] = "shift_right",
};

const struct ig_op_info *ig_op_info(enum ig_op op)
{
    return &infos[op];
}

enum ig_op ig_op_by_name(const char *name)
{
    for (int i = 0; i < IG_OPS; i++)
        if (!strcmp(infos[i].name, name)) return (enum ig_op)i;
    return IG_OPS;
}

const char *ig_unary_name(int32_t kind)
{
    return kind >= 0 && kind < IG_UNARIES ? unaries[kind] : "?";
}

const char *ig_binary_name(int32_t kind)
{
    return kind >= 0 && kind < IG_BINARIES ? binaries[kind] : "?";
}
