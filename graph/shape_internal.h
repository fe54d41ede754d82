/* What the files of shape inference share: the question being answered, and access to the node's tensors. */
#ifndef GRAPH_SHAPE_INTERNAL_H
#define GRAPH_SHAPE_INTERNAL_H

#include "graph/graph.h"

struct infer { /* one call of ig_infer */
    struct ig_graph *g;
    struct ig_node *n;
    char *err; /* the reason, when a function below returns -1 */
    size_t err_bytes;
    int unsupported; /* the node is right, but beyond what is supported */
};

typedef int infer_fn(struct infer *q); /* sets the node's output shapes; 0 or -1 */

/* Sets of types, for infer_want. */
enum {
    T_F32 = 1 << IG_F32,
    T_I32 = 1 << IG_I32,
    T_I64 = 1 << IG_I64,
    T_U8 = 1 << IG_U8,
    T_I8 = 1 << IG_I8,
    T_BOOL = 1 << IG_BOOL,
    T_F16 = 1 << IG_F16,
    T_BYTE = T_U8 | T_I8,
    T_INDEX = T_I32 | T_I64,
    T_INT = T_INDEX | T_BYTE,
    T_NUMBER = T_F32 | T_INT,
    T_ANY = T_NUMBER | T_BOOL,
    T_EDGE = T_ANY | T_F16
};

/* Writes the reason; always -1, so that a caller may return it. */
__attribute__((format(printf, 2, 3))) int infer_fail(struct infer *q, const char *format, ...);
/* Shape of input i, or NULL where it is absent. */
const struct ig_shape *infer_in(const struct infer *q, int i);
/*
 * The same for an input that must be there with a type among `types` and a rank in [min, max]; NULL after
 * infer_fail.
 */
const struct ig_shape *infer_want(struct infer *q, int i, int types, int min_rank, int max_rank);
/* Sets output i (if wanted) after checking dims of at least 1 and fewer than 2^31 elements. */
int infer_set(struct infer *q, int i, int32_t type, int32_t rank, const int64_t *dims);
/* Output i gets shape s with another type. */
int infer_like(struct infer *q, int i, const struct ig_shape *s, int32_t type);
/* The shape that output i has been given beforehand, checked; NULL after infer_fail. */
const struct ig_shape *infer_given(struct infer *q, int i, int types);
/* numpy broadcast of b into the *rank dims of `dims`; 0 or -1 after infer_fail. */
int infer_broadcast(struct infer *q, int64_t *dims, int32_t *rank, const struct ig_shape *b);
/* Input i, if it is there, is of one of the types and has one element, or n; else -1 after infer_fail. */
int infer_parameter(struct infer *q, int i, int types, int64_t n);
/* -1 unless inputs 4 to 6 of a product of integers are absent, or the scales and the bias of n channels. */
int infer_scales(struct infer *q, int64_t n);
/* 0 <= axis < rank, or -1 after infer_fail. */
int infer_axis(struct infer *q, int32_t axis, int32_t rank);
/* "[1,3,224,224]" into text (at least 128 bytes); returns text. */
char *infer_text(const struct ig_shape *s, char *text);

/* shape_window.c */
infer_fn infer_conv, infer_deconv, infer_pool, infer_global_pool, infer_conv_integer, infer_qlinear_conv,
    infer_deform_conv, infer_max_unpool, infer_roi_align, infer_grid_sample, infer_col2im;
/* shape_dense.c */
infer_fn infer_fc, infer_matmul, infer_matmul_integer, infer_qlinear_matmul, infer_unary, infer_binary,
    infer_where, infer_quantize, infer_dequantize, infer_dynamic_quantize, infer_extremes, infer_qlinear_binary, infer_qlinear_affine,
    infer_lookup, infer_reduce, infer_arg, infer_norm, infer_recurrent;
/* shape_move.c */
infer_fn infer_reshape, infer_transpose, infer_concat, infer_slice, infer_pad, infer_expand, infer_tile,
    infer_gather, infer_gather_elements, infer_gather_nd, infer_scatter_elements, infer_scatter_nd,
    infer_one_hot, infer_topk, infer_resize;

#endif
