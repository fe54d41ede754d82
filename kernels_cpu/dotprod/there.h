/*
 * Whether this processor has the dot products of bytes (FEAT_DotProd) that kernels_cpu/dotprod/ wants, and what kernels_cpu/fp16/ does, as each that
 * has the former has; by what Linux tells a process.
 */
#ifndef KERNELS_CPU_DOTPROD_THERE_H
#define KERNELS_CPU_DOTPROD_THERE_H

#include "kernels_cpu/fp16/there.h"

#if defined(__aarch64__) && defined(__linux__)
#include <sys/auxv.h>

static inline int ig_dotprod_there(void)
{
    enum { DOT_PRODUCTS = 1 << 20 }; /* HWCAP_ASIMDDP, which older headers do not name */
    return (getauxval(AT_HWCAP) & DOT_PRODUCTS) && ig_fp16_there();
}
#else
static inline int ig_dotprod_there(void)
{
    return 0;
}
#endif

#endif
