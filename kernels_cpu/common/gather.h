/* Gathers of any type, as kernels_cpu/ref/gather.c has them. Output rows [y0, y1); outputs are dense. */
#ifndef KERNELS_CPU_COMMON_GATHER_H
#define KERNELS_CPU_COMMON_GATHER_H

#include "kernels_cpu/kernel.h"

/* ig_get_index of i64, `wide`, or i32: index i into n, from the end where it is negative, the nearest where it is outside. */
static inline int64_t ig_index_at(const void *indices, const int wide, int64_t i, int64_t n)
{
    int64_t v = wide ? ((const int64_t *)indices)[i] : ((const int32_t *)indices)[i];
    v = v < 0 ? v + n : v;
    return v < 0 ? 0 : v < n ? v : n - 1;
}

void ig_gather_runs(const struct ig_call *call, struct ig_range range);
void ig_gather_elements_rows(const struct ig_call *call, struct ig_range range);
void ig_gather_tuples(const struct ig_call *call); /* all of the output */

#endif
