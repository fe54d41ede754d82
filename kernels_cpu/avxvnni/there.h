/* Whether this processor has AVX-VNNI, products of four bytes without AVX-512. Freestanding. */
#ifndef KERNELS_CPU_AVXVNNI_THERE_H
#define KERNELS_CPU_AVXVNNI_THERE_H

#if defined(__x86_64__)
#include <cpuid.h>
#include <stdint.h>

/* Asked for beside AVX2: it needs nothing more of the system. */
static inline int ig_avxvnni_there(void)
{
    enum { PRODUCTS = 1 << 4 }; /* of EAX, leaf 7, subleaf 1; a subleaf that there is not is zero */
    uint32_t a, b, c, d;
    return __get_cpuid_count(7, 1, &a, &b, &c, &d) && (a & PRODUCTS);
}
#else
static inline int ig_avxvnni_there(void)
{
    return 0;
}
#endif

#endif
