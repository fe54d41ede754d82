/*
 * The computational tensor of a layer (ALOHA, section VI-A, Listing 1, Table 3): six loops around one simple
 * operation, and which loops index which tensor. Batch 1.
 *
 *   op         OF    IF           FH, FW    KH, KW    simple operation
 *   conv       Y.C   X.C/groups   Y.H, Y.W  K.H, K.W  multiply-add (2)    depthwise: groups = X.C
 *   gemm       Y.C   X.C          X.H, X.W  1, 1      multiply-add (2)    Y has OF only: FH and FW are summed over
 *   relu, add  Y.C   1            Y.H, Y.W  1, 1      max, add (1)        X by OF
 *   pool       Y.C   1            Y.H, Y.W  K.H, K.W  max, add (1)        X by OF
 *   deconv     Y.C   X.C/groups   X.H, X.W  K.H, K.W  multiply-add (2)    the window slides over Y
 *   other      as relu, of the larger of X and Y
 */
#ifndef PLANNER_LAYER_H
#define PLANNER_LAYER_H

#include "kernels_cpu/kernel.h"
#include "planner/platform.h"

enum ig_layer_kind { /* what op_dist names */
    IG_LAYER_CONV = 0, IG_LAYER_GEMM, IG_LAYER_POOL, IG_LAYER_RELU, IG_LAYER_ADD, IG_LAYER_DECONV, IG_LAYER_OTHER,
    IG_LAYER_KINDS
};
extern const char *const ig_layer_kind_names[IG_LAYER_KINDS];

struct ig_layer {
    int32_t kind;                 /* enum ig_layer_kind */
    int32_t step_ops;             /* operations of one simple operation: 2 or 1 */
    int64_t n[IG_LOOPS];          /* trip counts, >= 1 */
    int64_t groups;               /* X is indexed by OF too where it is not 1; n[IG_OF] if every output has its own */
    uint8_t dims[IG_ROLES];       /* bit d: loop d indexes the tensor */
    int32_t window;               /* enum ig_role: the tensor that FH+KH and FW+KW index; IG_ROLES: none */
    int64_t sh, sw, dh, dw;       /* stride and dilation of the window */
    int32_t inputs;               /* operands that are read like X, >= 1 (2: Add) */
    int32_t residual;             /* 1: Y is also read (a fused addition) */
    int64_t elements[IG_ROLES];   /* of the whole tensors; X: of all inputs. Equation 5 */
    int64_t x_h, x_w;             /* extent of the windowed tensor */
};

/* A convolution: ic channels of in_h x in_w to oc of h x w; window k x k. Square where one number is given. */
struct ig_conv_size {
    int64_t ic, oc, in_h, in_w, h, w, k, stride, groups;
};
void ig_layer_conv(struct ig_layer *l, const struct ig_conv_size *s);
/* A fully connected layer on an image of c x h x w (flattened: h = w = 1). */
void ig_layer_gemm(struct ig_layer *l, int64_t c, int64_t h, int64_t w, int64_t oc);
/* The layer that a kernel call of `op` computes (one image). */
void ig_layer_of_call(struct ig_layer *l, int32_t op, const struct ig_call *call);

/* Equation 2 without rounding: the product of the trip counts times the operations of a step. */
int64_t ig_layer_ops(const struct ig_layer *l);
/* 1 if loop d indexes the tensor. */
static inline int ig_layer_has(const struct ig_layer *l, int role, int d)
{
    return l->dims[role] >> d & 1;
}

#endif
