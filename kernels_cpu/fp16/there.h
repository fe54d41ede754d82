/* Whether this processor has the arithmetic on halves (FEAT_FP16) that kernels_cpu/fp16/ wants, by what Linux tells a process. */
#ifndef KERNELS_CPU_FP16_THERE_H
#define KERNELS_CPU_FP16_THERE_H

#if defined(__aarch64__) && defined(__linux__)
#include <sys/auxv.h>

static inline int ig_fp16_there(void)
{
    enum { HALVES = 1 << 10 }; /* HWCAP_ASIMDHP, which older headers do not name */
    return (getauxval(AT_HWCAP) & HALVES) != 0;
}
#else
static inline int ig_fp16_there(void)
{
    return 0;
}
#endif

#endif
