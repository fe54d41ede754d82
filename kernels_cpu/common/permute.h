/*
 * Permutation of dense tensors of elements of one or four bytes, around one ISA's transpose of a matrix. A permutation
 * moves the input's contiguous dim somewhere in the output; what is left is copying rows, or many matrices:
 *   the last stays the last              rows are copied
 *   it becomes the output's w            [C,W] -> [W,C] per output row: NCHW -> NHWC
 *   it becomes the last of the h dims    [W,C] -> [C,W] over several output rows: NHWC -> NCHW
 *   elsewhere                            element by element
 */
#ifndef KERNELS_CPU_COMMON_PERMUTE_H
#define KERNELS_CPU_COMMON_PERMUTE_H

#include "kernels_cpu/kernel.h"

/* dst[i * dst_stride + j] = src[j * src_stride + i], i in [0, n), j in [0, rows); strides in elements. */
typedef void ig_transpose_fn(const void *src, int64_t src_stride, void *dst, int64_t dst_stride,
                             int64_t rows, int64_t n);
/* Of elements of 4 bytes, by one ISA. */
ig_transpose_fn ig_transpose_b32_avx2, ig_transpose_b32_neon;

/* The kernel: rows [y0, y1) of a call of IG_TRANSPOSE, of elements of `bytes` bytes, 1 or 4. */
void ig_permute(const struct ig_call *call, struct ig_range range, int32_t bytes, ig_transpose_fn *transpose);

#endif
