/* Whether this processor has what kernels_cpu/amx/ wants, tiles and AVX-512 VBMI, and the system grants this process their use. Freestanding. */
#ifndef KERNELS_CPU_AMX_GRANT_H
#define KERNELS_CPU_AMX_GRANT_H

#if defined(__x86_64__)
#include <cpuid.h>
#include <stdint.h>

/* Linux saves the tiles' 8 KiB only of the threads of a process that has asked for it (since 5.16): 1 if it agrees. */
static inline int ig_amx_asked(void)
{
    long result = 0;
#if defined(__linux__)
    enum { ARCH_PRCTL = 158, REQUEST = 0x1023, TILES = 18 /* the number of their state */ };
    result = ARCH_PRCTL;
    __asm__ volatile("syscall" : "+a"(result) : "D"((long)REQUEST), "S"((long)TILES) : "rcx", "r11", "memory");
#endif
    return !result;
}

static inline int ig_amx_granted(void)
{
    enum { SAVES_TILES = 3 << 17 }; /* of the kinds of registers that the system saves, a bit each: configuration and tiles */
    const uint32_t needed = 1u << 22 | 1u << 24 | 1u << 25; /* products of bfloat16; tiles; products of bytes */
    const uint32_t vbmi = 1u << 1;
    uint32_t a, b, c, d;
    if (!__get_cpuid(1, &a, &b, &c, &d) || !(c & bit_OSXSAVE)) return 0;
    __asm__ volatile("xgetbv" : "=a"(a), "=d"(d) : "c"(0));
    if ((a & SAVES_TILES) != SAVES_TILES) return 0;
    return __get_cpuid_count(7, 0, &a, &b, &c, &d) && (d & needed) == needed && (c & vbmi) && ig_amx_asked();
}
#else
static inline int ig_amx_granted(void)
{
    return 0;
}
#endif

#endif
