/*
 * Pointwise convolution by one level of Strassen's algorithm (Numer. Math. 13, 1969): seven products of half the size
 * for eight, on the micro-kernels of the direct convolution. The weights' sums are made when they are packed; what
 * remains at run time are five sums of pixels and eight of products, which are cheap where there are many channels.
 *
 * The halves of the product C = A B, A [pixels][ic], B [ic][oc]:
 *   A's and C's rows    pairs of pixels: one above the other in rows 2y and 2y + 1. In a last row that has no other,
 *                       x and x + ceil(w/2); a pixel that then has none is paired with zero
 *   A's columns, B's rows     the first and the second half of the input channels
 *   B's and C's columns       pairs of panels, 2*nr channels
 * So ranges of rows start at even rows, and the bits of an element do not depend on the cut.
 *
 * Packed weights (kernels_cpu/pack/strassen.c), by pair of panels:
 *   { bias[2*nr], w[product 0..6][ic/2][nr] }
 */
#ifndef KERNELS_CPU_COMMON_STRASSEN_H
#define KERNELS_CPU_COMMON_STRASSEN_H

#include "kernels_cpu/common/conv_gemm.h"

enum { IG_STRASSEN_PRODUCTS = 7, IG_STRASSEN_SUMS = 5 };

/* dst[s][0..k) = sum s of the halves of two pixels: top [2*k], bottom [2*k]; the sums lie `plane` floats apart. */
typedef void ig_strassen_sums_fn(const float *top, const float *bottom, int64_t k, float *dst, int64_t plane);

struct ig_strassen_tile {        /* what a group of pairs by a pair of panels is made of */
    const float *m;              /* [product][mr][nr] */
    const float *bias;           /* [2*nr] */
    float *const *top;           /* [rows] addresses of the output pixels */
    float *const *bottom;
    const float *const *r_top;   /* [rows] of the residual, or NULL */
    const float *const *r_bottom;
    int64_t channel;             /* floats to add to each of them */
    int32_t rows;                /* pairs, at most mr */
    int32_t flags;               /* enum ig_gemm_flags */
    float lo, hi;
};

typedef void ig_strassen_join_fn(const struct ig_strassen_tile *tile);

struct ig_strassen_set {         /* one ISA's tools; static const data */
    const struct ig_gemm_set *gemm;
    ig_strassen_sums_fn *sums;
    ig_strassen_join_fn *join;   /* for the set's mr and nr */
};

/* call->in = x, w, bias, residual; the call is one that ig_supports_strassen accepts. */
void ig_strassen_conv(const struct ig_call *call, struct ig_range range, void *scratch,
                      const struct ig_strassen_set *set);
/* Scratch bytes for sets with that mr and nr. */
size_t ig_strassen_scratch(const struct ig_call *call, int32_t mr, int32_t nr);

#endif
