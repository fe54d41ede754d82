/* Whether this processor has the tiles of kernels_cpu/amx/ and the system grants this process their use. */
#ifndef KERNELS_CPU_AMX_GRANT_H
#define KERNELS_CPU_AMX_GRANT_H

#if defined(__x86_64__) && defined(__linux__)
#include <cpuid.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Asks Linux to save the tiles' 8 KiB of this process's threads, as it does only for who asks (since 5.16). */
static inline int ig_amx_granted(void)
{
    enum { REQUEST = 0x1023, TILES = 18 }; /* ARCH_REQ_XCOMP_PERM, the number of their state */
    const unsigned needed = 1u << 22 | 1u << 24; /* products of bfloat16; tiles */
    unsigned a, b, c, d;
    return __get_cpuid_count(7, 0, &a, &b, &c, &d) && (d & needed) == needed && !syscall(SYS_arch_prctl, REQUEST, TILES);
}
#else
static inline int ig_amx_granted(void)
{
    return 0;
}
#endif

#endif
