/* Gathers of any type, as kernels_cpu/ref/gather.c has them. Output rows [y0, y1); outputs are dense. */
#ifndef KERNELS_CPU_COMMON_GATHER_H
#define KERNELS_CPU_COMMON_GATHER_H

#include "kernels_cpu/kernel.h"

void ig_gather_runs(const struct ig_call *call, struct ig_range range);
void ig_gather_elements_rows(const struct ig_call *call, struct ig_range range);

#endif
