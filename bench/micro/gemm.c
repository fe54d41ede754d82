/* The matrix micro-kernels alone: as many rows as they have or fewer by one panel, or two, of K = 256, all of it in L1. */
#include <stdio.h>
#include <stdlib.h>

#include "bench/micro/micro.h"
#include "kernels_cpu/common/conv_gemm.h"
#include "kernels_cpu/registry.h"

struct kind {
    const struct ig_gemm_set *set;
    int isa;
};

#if defined(__x86_64__)
#include "kernels_cpu/avx2/gemm.h"
#include "kernels_cpu/avx512/gemm.h"
static const struct kind kinds[] = {
    {&ig_gemm_6x16_avx2, IG_ISA_AVX2}, {&ig_gemm_4x24_avx2, IG_ISA_AVX2}, {&ig_gemm_12x32_avx512, IG_ISA_AVX512}, {NULL, 0}};
#elif defined(__aarch64__)
#include "kernels_cpu/neon/gemm.h"
static const struct kind kinds[] = {{&ig_gemm_6x16_neon, IG_ISA_NEON}, {&ig_gemm_8x8_neon, IG_ISA_NEON}, {NULL, 0}};
#else
static const struct kind kinds[] = {{NULL, 0}};
#endif

enum { K = 256, CALLS = 200 };

struct tile {
    struct ig_gemm_args args;
    ig_gemm_fn *fn;
};

static void calls(void *data)
{
    struct tile *t = data;
    for (int i = 0; i < CALLS; i++) t->fn(&t->args);
}

/* width: of the last panel. */
static double percent(const struct ig_gemm_set *set, int32_t rows, int32_t panels, int32_t width, float *memory, double peak)
{
    const float *a[IG_GEMM_MAX_MR];
    float *c[IG_GEMM_MAX_MR], *panel = memory + IG_GEMM_MAX_MR * (K + 16), *out = panel + IG_GEMM_MAX_NR * (K + 1);
    struct tile t = {{.a = a, .taps = 1, .k = K, .b = panel + set->nr, .bias = panel, .c = c, .panels = panels, .groups = 1},
                     set->fn[width / IG_GEMM_STEP - 1][rows - 1]};
    for (int32_t m = 0; m < set->mr; m++) {
        a[m] = memory + m * (K + 16);
        c[m] = out + m * IG_GEMM_MAX_NR;
    }
    double ns = ig_time_least(calls, &t, 0.01);
    return 100 * 2.0 * rows * ((panels - 1) * set->nr + width) * K * CALLS / ns / peak;
}

static void print_width(const struct kind *k, int32_t panels, int32_t width, float *memory, double peak)
{
    int32_t all = (panels - 1) * k->set->nr + width;
    printf("%s, panels of %d, width %2d: ", ig_isa_name(k->isa), k->set->nr, all);
    for (int32_t rows = 1; rows <= k->set->mr; rows++)
        printf(" %dx%d %5.1f%%", rows, all, percent(k->set, rows, panels, width, memory, peak));
    printf("\n");
}

void ig_micro_gemm(double peak)
{
    float *memory = aligned_alloc(64, 1 << 16);
    if (!memory) abort();
    for (int i = 0; i < 1 << 14; i++) memory[i] = 0;
    for (const struct kind *k = kinds; k->set; k++) {
        if (!ig_isa_runs_here(k->isa)) continue;
        for (int32_t width = IG_GEMM_STEP; width <= k->set->nr; width += IG_GEMM_STEP) print_width(k, 1, width, memory, peak);
        if (k->set->loops > 1) print_width(k, k->set->loops, k->set->nr, memory, peak);
    }
    free(memory);
}
