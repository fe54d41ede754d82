/* All kernel variants that are known: the table that tests, bench and planner walk. Not linked into a generated binary. */
#ifndef KERNELS_CPU_REGISTRY_H
#define KERNELS_CPU_REGISTRY_H

#include "kernels_cpu/kernel.h"

/* Number of variants, and variant i (in the order of the kernels.inc files: ref, avx2, neon). */
int ig_kernel_count(void);
const struct ig_kernel *ig_kernel_at(int i);
/* The variant of that name, or NULL. */
const struct ig_kernel *ig_kernel_by_name(const char *name);
/* "ref", "avx2", "neon". */
const char *ig_isa_name(int isa);
/* 1 if this process can execute kernels of `isa` (built for it, and the CPU has it). */
int ig_isa_runs_here(int isa);

#endif
