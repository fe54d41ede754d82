/*
 * The registry, made from one line per kernel in <isa>/kernels.inc:
 *   KERNEL(symbol, "symbol", op, isa, flags, row_tile, col_tile, supports, pack, scratch)
 * An ISA that this program is not built for is listed all the same, without its functions, so that a PC can plan
 * and pack for a board.
 */
#include "kernels_cpu/registry.h"

#include <string.h>

#include "kernels_cpu/pack/pack.h"

#define KERNEL(symbol, name, op, isa, flags, rows, cols, supports, pack, scratch) ig_kernel_fn symbol;
#include "kernels_cpu/ref/kernels.inc"
#if defined(INGOT_HAVE_AVX2)
#include "kernels_cpu/avx2/kernels.inc"
#endif
#if defined(__aarch64__)
#include "kernels_cpu/neon/kernels.inc"
#endif
#undef KERNEL

static const struct ig_kernel kernels[] = {
#define KERNEL(symbol, name, op, isa, flags, rows, cols, supports, pack, scratch)                                  \
    {name, symbol, op, isa, flags, rows, cols, supports, pack, scratch},
#define ABSENT(symbol, name, op, isa, flags, rows, cols, supports, pack, scratch)                                  \
    {name, NULL, op, isa, flags, rows, cols, supports, pack, scratch},
#include "kernels_cpu/ref/kernels.inc"
#if defined(INGOT_HAVE_AVX2)
#include "kernels_cpu/avx2/kernels.inc"
#undef KERNEL
#define KERNEL ABSENT
#include "kernels_cpu/neon/kernels.inc"
#elif defined(__aarch64__)
#include "kernels_cpu/neon/kernels.inc"
#undef KERNEL
#define KERNEL ABSENT
#include "kernels_cpu/avx2/kernels.inc"
#else
#undef KERNEL
#define KERNEL ABSENT
#include "kernels_cpu/avx2/kernels.inc"
#include "kernels_cpu/neon/kernels.inc"
#endif
};

int ig_kernel_count(void)
{
    return (int)(sizeof kernels / sizeof *kernels);
}

const struct ig_kernel *ig_kernel_at(int i)
{
    return &kernels[i];
}

const struct ig_kernel *ig_kernel_by_name(const char *name)
{
    for (int i = 0; i < ig_kernel_count(); i++)
        if (!strcmp(kernels[i].name, name)) return &kernels[i];
    return NULL;
}

const char *ig_isa_name(int isa)
{
    static const char *const names[IG_ISAS] = {"ref", "avx2", "neon"};
    return isa >= 0 && isa < IG_ISAS ? names[isa] : "?";
}

int ig_isa_runs_here(int isa)
{
    if (isa == IG_ISA_REF) return 1;
#if defined(INGOT_HAVE_AVX2)
    return isa == IG_ISA_AVX2 && __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
#elif defined(__aarch64__)
    return isa == IG_ISA_NEON;
#else
    return 0;
#endif
}
