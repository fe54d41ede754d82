/*
 * Kernels on halves: tensors and weights are stored in 16 bits (IEEE 754 binary16) and computed with in 32. A kernel
 * on floats is called for pieces small enough to stay in a cache: rows of its input and panels of its weights are
 * widened into scratch, it writes its rows there, and these are narrowed. So its bits are those of the float kernel
 * on the widened tensors, each rounded once, and do not depend on the cut as that kernel's do not.
 *
 * The weights of a 1x1 convolution of one pixel, or of one row of fc, are used once: they are widened on the way into the sums.
 * Where a transposed convolution's are many, those of a phase are widened at a time.
 *
 * Packed weights: those of the float kernel, every float narrowed.
 * Any operand may be of floats as well: an input is then read where it lies.
 */
#ifndef KERNELS_CPU_COMMON_HALF_H
#define KERNELS_CPU_COMMON_HALF_H

#include "kernels_cpu/common/conv_gemm.h"

enum ig_half_cut {      /* which channels one call of the float kernel takes */
    IG_HALF_SLICES,     /* any slice, the same of inputs and outputs: depthwise, pooling, element-wise */
    IG_HALF_PANELS,     /* all inputs and some panels of outputs, of one group: convolution, transposed too, fc */
    IG_HALF_WHOLE       /* all */
};

struct ig_half_kind {   /* what sizes depend on */
    int32_t op;         /* enum ig_op */
    int32_t cut;        /* enum ig_half_cut */
    int32_t nr;         /* channels of a packed panel, of a slice without weights the least */
    int32_t lean;       /* one panel of weights and few rows at a time: least scratch */
};

/* to[x][0..n) = from[x][0..n) for x < pixels; steps: elements from a pixel to the next */
typedef void ig_widen_fn(float *to, int64_t to_step, const uint16_t *from, int64_t from_step, int64_t n,
                         int32_t pixels);
/* The same back, to nearest, ties to even; too large becomes infinite. */
typedef void ig_narrow_fn(uint16_t *to, int64_t to_step, const float *from, int64_t from_step, int64_t n,
                          int32_t pixels);

struct ig_half {        /* a float kernel and how one ISA converts */
    struct ig_half_kind kind;
    ig_kernel_fn *run;  /* any strides and rings, row_tile 1, ranges from channel 0 */
    ig_widen_fn *widen;
    ig_narrow_fn *narrow;
    const struct ig_gemm_set *set; /* that `run` is by, of products by panels; else NULL */
    ig_gemv_fn *gemv;   /* by panels of halves, of convolutions and fc; else NULL */
};

extern const struct ig_half_kind ig_half_conv16, ig_half_conv16_lean, ig_half_deconv16, ig_half_depthwise8, ig_half_fc16,
    ig_half_pool, ig_half_unary, ig_half_binary, ig_half_softmax;

/* The kernel on call's operands; scratch as ig_half_scratch says, and behind it what the float kernel needs. */
void ig_half_run(const struct ig_call *call, struct ig_range range, void *scratch, const struct ig_half *half);
/* Scratch bytes without the float kernel's own, a multiple of 64. */
size_t ig_half_scratch(const struct ig_call *call, const struct ig_half_kind *kind);

/* Global pooling, where `run` takes some rows of some channels at a time; its means are put together. */
void ig_half_global_pool(const struct ig_call *call, struct ig_range range, void *scratch, const struct ig_half *half);
size_t ig_half_global_pool_scratch(const struct ig_call *call);

#endif
