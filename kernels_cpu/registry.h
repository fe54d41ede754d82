/* All kernel variants that are known: the table that tests, bench and planner walk. Not linked into a generated binary. */
#ifndef KERNELS_CPU_REGISTRY_H
#define KERNELS_CPU_REGISTRY_H

#include "kernels_cpu/kernel.h"

/* Number of variants, and variant i (in the order of the kernels.inc files: ref, avx2, avxvnni, avx512, vnni, amx, dotprod, fp16, neon). */
int ig_kernel_count(void);
const struct ig_kernel *ig_kernel_at(int i);
/* The variant of that name, or NULL. */
const struct ig_kernel *ig_kernel_by_name(const char *name);
/* "ref", "avx2", "avxvnni", "avx512", "vnni", "amx", "neon", "fp16", "dotprod", "cuda". */
const char *ig_isa_name(int isa);
/* The ISA of that name, enum ig_isa; -1: there is none. */
int ig_isa_by_name(const char *name);
/* 1 if this process can execute kernels of `isa` (built for it, and the CPU has it). */
int ig_isa_runs_here(int isa);
/* The fastest CPU ISA that runs here. */
int ig_isa_fastest(void);
/* 1 if a processor of `isa` executes kernels of `of`: its own, those that it has beside them, the reference's. */
int ig_isa_has(int isa, int of);

#endif
