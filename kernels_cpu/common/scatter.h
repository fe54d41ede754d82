/*
 * Scatters, as kernels_cpu/ref/scatter.c has them: of any type where updates replace, of f32 where they are joined. The input is copied, unless it is
 * the output, and updates come in their order: all is one call.
 */
#ifndef KERNELS_CPU_COMMON_SCATTER_H
#define KERNELS_CPU_COMMON_SCATTER_H

#include "kernels_cpu/kernel.h"

void ig_scatter_elements(const struct ig_call *call);
void ig_scatter_tuples(const struct ig_call *call);

#endif
