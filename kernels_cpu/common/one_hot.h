/* One-hot of any type, as kernels_cpu/ref/one_hot.c has it: all is the one value, then some are the other. */
#ifndef KERNELS_CPU_COMMON_ONE_HOT_H
#define KERNELS_CPU_COMMON_ONE_HOT_H

#include "kernels_cpu/kernel.h"

void ig_one_hot(const struct ig_call *call);

#endif
