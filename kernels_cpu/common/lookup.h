/* Bytes by a table (IG_LOOKUP, kernels_cpu/ref/lookup.c): the rows of a range around one ISA's runs. */
#ifndef KERNELS_CPU_COMMON_LOOKUP_H
#define KERNELS_CPU_COMMON_LOOKUP_H

#include "kernels_cpu/kernel.h"

enum { IG_LOOKUP_ENTRIES = 256 };

/* y[i] of x[i], i < n, a multiple of the ISA's step, by a table as it wants it; y may be x. */
typedef void ig_lookup_run_fn(uint8_t *y, const uint8_t *x, int64_t n, const uint8_t *table);

/* `table`: input 1 as `run` wants it. What is less than a step is looked up byte by byte. */
void ig_lookup_rows(const struct ig_call *call, struct ig_range range, const uint8_t *table, int32_t step, ig_lookup_run_fn *run);

#endif
