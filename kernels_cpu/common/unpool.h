/* The partial inverse of maximum pooling, kernels_cpu/ref/max_unpool.c, where indices count in a tensor of the output's very extents. */
#ifndef KERNELS_CPU_COMMON_UNPOOL_H
#define KERNELS_CPU_COMMON_UNPOOL_H

#include "kernels_cpu/kernel.h"

void ig_unpool(const struct ig_call *call);

#endif
