/* How far a kernel that is less exact than a direct sum is from one, on a layer's own weights. */
#ifndef BENCH_ERROR_H
#define BENCH_ERROR_H

#include "kernels_cpu/kernel.h"

/*
 * max|y - direct| / max|direct| of kernel k, of a convolution or a fully connected layer, on one image of unit-normal
 * inputs, always the same ones; bias, residual and activation are left out. `direct` is the fastest direct kernel of the
 * same ISA. Halves are compared as they are stored, rounded. k->error where memory is short.
 */
double ig_kernel_error(const struct ig_kernel *k, const struct ig_call *layer);

#endif
