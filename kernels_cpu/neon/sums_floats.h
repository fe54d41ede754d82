/* Sums of products of integers to floats. */
#ifndef KERNELS_CPU_NEON_SUMS_FLOATS_H
#define KERNELS_CPU_NEON_SUMS_FLOATS_H

#include "kernels_cpu/common/conv_bytes.h"

ig_bytes_floats_fn ig_bytes_floats_neon;

#endif
