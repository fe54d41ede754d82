/* Which kernels tests run that want this processor's own. */
#ifndef TESTS_SUPPORT_ISA_H
#define TESTS_SUPPORT_ISA_H

#include "kernels_cpu/registry.h"

/* The fastest of the instruction sets that run here, enum ig_isa; the reference kernels where none does. */
static inline int32_t fastest_isa(void)
{
    return ig_isa_fastest();
}

#endif
