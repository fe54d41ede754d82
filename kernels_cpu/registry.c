/*
 * The registry, made from one line per kernel in <isa>/kernels.inc:
 *   KERNEL(symbol, "symbol", op, isa, flags, row_tile, col_tile, supports, pack, scratch)
 *   KERNEL_ERROR(the same, error, tile_columns)    for a kernel that is less exact than a direct sum
 * An ISA that this program is not built for (configure defines INGOT_HAVE_<ISA> if it is) is listed all the same,
 * without its functions, so that a PC can plan and pack for a board.
 */
#include "kernels_cpu/registry.h"

#include <string.h>

#include "kernels_cpu/amx/grant.h"
#include "kernels_cpu/avxvnni/there.h"
#include "kernels_cpu/dotprod/there.h"
#include "kernels_cpu/fp16/there.h"
#include "kernels_cpu/pack/pack.h"
#include "kernels_gpu/launch/launch.h"

#define KERNEL_GPU(symbol, name, op, flags, supports, pack, scratch, launch) ig_kernel_fn symbol;
#define KERNEL_GPU_ERROR(symbol, name, op, flags, supports, pack, scratch, launch, error) ig_kernel_fn symbol;
#include "kernels_gpu/kernels.inc"
#undef KERNEL_GPU
#undef KERNEL_GPU_ERROR

#define KERNEL(symbol, name, op, isa, flags, rows, cols, supports, pack, scratch) ig_kernel_fn symbol;
#define KERNEL_ERROR(symbol, name, op, isa, flags, rows, cols, supports, pack, scratch, error, columns)              \
    ig_kernel_fn symbol;
#include "kernels_cpu/ref/kernels.inc"
#include "kernels_cpu/avx2/kernels.inc"
#include "kernels_cpu/avxvnni/kernels.inc"
#include "kernels_cpu/avx512/kernels.inc"
#include "kernels_cpu/vnni/kernels.inc"
#include "kernels_cpu/amx/kernels.inc"
#include "kernels_cpu/dotprod/kernels.inc"
#include "kernels_cpu/fp16/kernels.inc"
#include "kernels_cpu/neon/kernels.inc"
#undef KERNEL
#undef KERNEL_ERROR

#define KERNEL(symbol, name, op, isa, flags, rows, cols, supports, pack, scratch)                                    \
    KERNEL_ERROR(symbol, name, op, isa, flags, rows, cols, supports, pack, scratch, 0, 0)
#define KERNEL_ERROR(symbol, name, op, isa, flags, rows, cols, supports, pack, scratch, error, columns)              \
    {name, RUN(symbol), op, isa, flags, rows, cols, supports, pack, scratch, error, columns},

static const struct ig_kernel kernels[] = {
#define RUN(symbol) symbol
#include "kernels_cpu/ref/kernels.inc"
#undef RUN

#ifdef INGOT_HAVE_AVX2
#define RUN(symbol) symbol
#else
#define RUN(symbol) NULL
#endif
#include "kernels_cpu/avx2/kernels.inc"
#undef RUN

#ifdef INGOT_HAVE_AVXVNNI
#define RUN(symbol) symbol
#else
#define RUN(symbol) NULL
#endif
#include "kernels_cpu/avxvnni/kernels.inc"
#undef RUN

#ifdef INGOT_HAVE_AVX512
#define RUN(symbol) symbol
#else
#define RUN(symbol) NULL
#endif
#include "kernels_cpu/avx512/kernels.inc"
#undef RUN

#ifdef INGOT_HAVE_VNNI
#define RUN(symbol) symbol
#else
#define RUN(symbol) NULL
#endif
#include "kernels_cpu/vnni/kernels.inc"
#undef RUN

#ifdef INGOT_HAVE_AMX
#define RUN(symbol) symbol
#else
#define RUN(symbol) NULL
#endif
#include "kernels_cpu/amx/kernels.inc"
#undef RUN

#ifdef INGOT_HAVE_DOTPROD /* before NEON's: of kernels that an estimate has equal the first is taken */
#define RUN(symbol) symbol
#else
#define RUN(symbol) NULL
#endif
#include "kernels_cpu/dotprod/kernels.inc"
#undef RUN

#ifdef INGOT_HAVE_FP16
#define RUN(symbol) symbol
#else
#define RUN(symbol) NULL
#endif
#include "kernels_cpu/fp16/kernels.inc"
#undef RUN

#ifdef INGOT_HAVE_NEON
#define RUN(symbol) symbol
#else
#define RUN(symbol) NULL
#endif
#include "kernels_cpu/neon/kernels.inc"
#undef RUN

#ifdef INGOT_HAVE_CUDA /* emulated: a GPU's kernels are launched, not run */
#define RUN(symbol) symbol
#else
#define RUN(symbol) NULL
#endif
#define KERNEL_GPU(symbol, name, op, flags, supports, pack, scratch, launch)                                          \
    KERNEL_GPU_ERROR(symbol, name, op, flags, supports, pack, scratch, launch, 0)
#define KERNEL_GPU_ERROR(symbol, name, op, flags, supports, pack, scratch, launch, error)                             \
    {name, RUN(symbol), op, IG_ISA_CUDA, flags, IG_GPU_WHOLE, 0, supports, pack, scratch, error, 0},
#include "kernels_gpu/kernels.inc"
#undef KERNEL_GPU
#undef KERNEL_GPU_ERROR
#undef RUN
};

static int always(void)
{
    return 1;
}

#ifdef INGOT_HAVE_AVX2
static int has_avx2(void)
{
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
}
#else
#define has_avx2 NULL
#endif

#ifdef INGOT_HAVE_AVXVNNI
static int has_avxvnni(void)
{
    return has_avx2() && ig_avxvnni_there();
}
#else
#define has_avxvnni NULL
#endif

#ifdef INGOT_HAVE_AVX512
static int has_avx512(void)
{
    return has_avx2() && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
           __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl");
}
#else
#define has_avx512 NULL
#endif

#ifdef INGOT_HAVE_VNNI
static int has_vnni(void)
{
    return has_avx512() && __builtin_cpu_supports("avx512vnni");
}
#else
#define has_vnni NULL
#endif

#ifdef INGOT_HAVE_AMX
static int has_amx(void)
{
    return has_vnni() && ig_amx_granted();
}
#else
#define has_amx NULL
#endif

#ifdef INGOT_HAVE_NEON
#define has_neon always
#else
#define has_neon NULL
#endif

#ifdef INGOT_HAVE_FP16
static int has_fp16(void)
{
    return ig_fp16_there();
}
#else
#define has_fp16 NULL
#endif

#ifdef INGOT_HAVE_DOTPROD
static int has_dotprod(void)
{
    return ig_dotprod_there();
}
#else
#define has_dotprod NULL
#endif

#ifdef INGOT_HAVE_CUDA
#define has_cuda always
#else
#define has_cuda NULL
#endif

static const struct isa {
    const char *name;
    int (*runs_here)(void); /* NULL: not built */
} isas[IG_ISAS] = {
    [IG_ISA_REF] = {"ref", always},
    [IG_ISA_AVX2] = {"avx2", has_avx2},
    [IG_ISA_AVXVNNI] = {"avxvnni", has_avxvnni},
    [IG_ISA_AVX512] = {"avx512", has_avx512},
    [IG_ISA_VNNI] = {"vnni", has_vnni},
    [IG_ISA_AMX] = {"amx", has_amx},
    [IG_ISA_NEON] = {"neon", has_neon},
    [IG_ISA_FP16] = {"fp16", has_fp16},
    [IG_ISA_DOTPROD] = {"dotprod", has_dotprod},
    [IG_ISA_CUDA] = {"cuda", has_cuda},
};

/* Whose kernels a processor of an ISA executes beside its own and the reference's, and those that this one has in turn. */
static const int beside[IG_ISAS] = {
    [IG_ISA_AVXVNNI] = IG_ISA_AVX2, [IG_ISA_AVX512] = IG_ISA_AVX2, [IG_ISA_VNNI] = IG_ISA_AVX512, [IG_ISA_AMX] = IG_ISA_VNNI,
    [IG_ISA_FP16] = IG_ISA_NEON, [IG_ISA_DOTPROD] = IG_ISA_FP16};

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
    return isa >= 0 && isa < IG_ISAS ? isas[isa].name : "?";
}

int ig_isa_by_name(const char *name)
{
    int isa = IG_ISAS - 1;
    while (isa >= 0 && strcmp(isas[isa].name, name)) isa--;
    return isa;
}

int ig_isa_runs_here(int isa)
{
    return isa >= 0 && isa < IG_ISAS && isas[isa].runs_here && isas[isa].runs_here();
}

int ig_isa_fastest(void)
{
    if (ig_isa_runs_here(IG_ISA_DOTPROD)) return IG_ISA_DOTPROD;
    if (ig_isa_runs_here(IG_ISA_FP16)) return IG_ISA_FP16;
    if (ig_isa_runs_here(IG_ISA_NEON)) return IG_ISA_NEON;
    if (ig_isa_runs_here(IG_ISA_AMX)) return IG_ISA_AMX;
    if (ig_isa_runs_here(IG_ISA_VNNI)) return IG_ISA_VNNI;
    if (ig_isa_runs_here(IG_ISA_AVX512)) return IG_ISA_AVX512;
    if (ig_isa_runs_here(IG_ISA_AVXVNNI)) return IG_ISA_AVXVNNI;
    return ig_isa_runs_here(IG_ISA_AVX2) ? IG_ISA_AVX2 : IG_ISA_REF;
}

int ig_isa_has(int isa, int of)
{
    for (; isa > IG_ISA_REF; isa = beside[isa])
        if (isa == of) return 1;
    return of == IG_ISA_REF;
}
