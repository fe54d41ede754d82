/* Declarations of this folder's kernels, made from its list. */
#ifndef KERNELS_CPU_FP16_KERNELS_H
#define KERNELS_CPU_FP16_KERNELS_H

#include "kernels_cpu/kernel.h"

#define KERNEL(symbol, name, op, isa, flags, rows, cols, supports, pack, scratch) ig_kernel_fn symbol;
#define KERNEL_ERROR(symbol, name, op, isa, flags, rows, cols, supports, pack, scratch, error, columns) \
    ig_kernel_fn symbol;
#include "kernels_cpu/fp16/kernels.inc"
#undef KERNEL
#undef KERNEL_ERROR

#endif
