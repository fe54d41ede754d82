/* Padding of any type, as kernels_cpu/ref/pad.c has it, in runs: what lies behind the last padded dim moves in one piece, and the inside of a line, too. */
#ifndef KERNELS_CPU_COMMON_PAD_H
#define KERNELS_CPU_COMMON_PAD_H

#include "kernels_cpu/kernel.h"

void ig_pad_runs(const struct ig_call *call, struct ig_range range);

#endif
