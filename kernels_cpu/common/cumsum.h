/* Running sums of floats, in double precision: the bits of kernels_cpu/ref/cumsum.c. */
#ifndef KERNELS_CPU_COMMON_CUMSUM_H
#define KERNELS_CPU_COMMON_CUMSUM_H

#include "kernels_cpu/kernel.h"

void ig_cumsum_rows(const struct ig_call *call, struct ig_range range);   /* along the last axis */
void ig_cumsum_across(const struct ig_call *call, struct ig_range range); /* along another one: neighbouring lines side by side */

#endif
