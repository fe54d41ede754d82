/* Products of matrices that are both made at run time, by one ISA's matrix micro-kernels. */
#ifndef KERNELS_CPU_COMMON_MATMUL_H
#define KERNELS_CPU_COMMON_MATMUL_H

#include "kernels_cpu/common/conv_gemm.h"
#include "kernels_cpu/common/permute.h"

enum { IG_MATMUL_NR = 16 }; /* the sets' nr */

/*
 * IG_MATMUL of f32, both sides of rank 2 at least. The right side's columns of the range are packed into scratch as a fully connected
 * layer's weights are, by `transpose` where its columns are contiguous, times alpha, and then it is one. Rows of a range are products, where there are leading dims, or rows of the product.
 */
void ig_gemm_matmul(const struct ig_call *call, struct ig_range range, void *scratch, const struct ig_gemm_set *set, ig_transpose_fn *transpose);
/* Scratch, for sets with that mr. */
size_t ig_gemm_matmul_scratch(const struct ig_call *call, int32_t mr);

#endif
