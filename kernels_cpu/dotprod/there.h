/* Whether this processor has the dot products of bytes (FEAT_DotProd) that kernels_cpu/dotprod/ wants, by what Linux tells a process. */
#ifndef KERNELS_CPU_DOTPROD_THERE_H
#define KERNELS_CPU_DOTPROD_THERE_H

#if defined(__aarch64__) && defined(__linux__)
#include <sys/auxv.h>

static inline int ig_dotprod_there(void)
{
    enum { DOT_PRODUCTS = 1 << 20 }; /* HWCAP_ASIMDDP, which older headers do not name */
    return (getauxval(AT_HWCAP) & DOT_PRODUCTS) != 0;
}
#else
static inline int ig_dotprod_there(void)
{
    return 0;
}
#endif

#endif
