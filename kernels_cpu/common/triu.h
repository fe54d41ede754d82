/* Triangles of matrices of any type, as kernels_cpu/ref/triu.c has them: of each line a run stays. Output rows [y0, y1); the output is dense. */
#ifndef KERNELS_CPU_COMMON_TRIU_H
#define KERNELS_CPU_COMMON_TRIU_H

#include "kernels_cpu/kernel.h"

void ig_triu_rows(const struct ig_call *call, struct ig_range range);

#endif
