/*
 * Vector registers that a function is to leave as they were: the lower halves of aarch64's v8 to v15. x86-64 has none, and of general
 * registers that a kernel loses the caller dies.
 */
#ifndef TESTS_SUPPORT_REGISTERS_H
#define TESTS_SUPPORT_REGISTERS_H

#include "kernels_cpu/kernel.h"

#if defined(__aarch64__)
#define REGISTERS_LOST "loses registers" /* what is said of a kernel that calls lose_registers */

/* Runs a kernel; 1 if it keeps them. */
static inline int keeps_registers(ig_kernel_fn *run, const struct ig_call *call, struct ig_range range, void *scratch)
{
    const uint64_t mark = UINT64_C(0x0123456789abcdef);
    uint64_t left[8];
    int kept = 1;
    __asm__ volatile("fmov d8, %0\n fmov d9, %0\n fmov d10, %0\n fmov d11, %0\n fmov d12, %0\n fmov d13, %0\n fmov d14, %0\n fmov d15, %0"
                     : : "r"(mark) : "v8", "v9", "v10", "v11", "v12", "v13", "v14", "v15");
    run(call, range, scratch);
    __asm__ volatile("stp d8, d9, [%0]\n stp d10, d11, [%0, #16]\n stp d12, d13, [%0, #32]\n stp d14, d15, [%0, #48]" : : "r"(left) : "memory");
    for (int i = 0; i < 8; i++) kept &= left[i] == mark;
    return kept;
}

static inline void lose_registers(void)
{
    __asm__ volatile("fmov d15, xzr");
}
#else
#define REGISTERS_LOST NULL

static inline int keeps_registers(ig_kernel_fn *run, const struct ig_call *call, struct ig_range range, void *scratch)
{
    run(call, range, scratch);
    return 1;
}

static inline void lose_registers(void)
{
}
#endif

#endif
