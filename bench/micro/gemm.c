/* The matrix micro-kernels alone: six or fewer rows by one panel of K = 256, all of it in L1. */
#include <stdio.h>
#include <stdlib.h>

#include "bench/micro/micro.h"
#include "kernels_cpu/common/conv_gemm.h"
#include "kernels_cpu/registry.h"

#if defined(__x86_64__)
#include "kernels_cpu/avx2/gemm.h"
static const struct ig_gemm_set *const sets[] = {&ig_gemm_6x16_avx2, &ig_gemm_4x24_avx2, NULL};
enum { ISA = IG_ISA_AVX2 };
#elif defined(__aarch64__)
#include "kernels_cpu/neon/gemm.h"
static const struct ig_gemm_set *const sets[] = {&ig_gemm_6x16_neon, &ig_gemm_8x8_neon, NULL};
enum { ISA = IG_ISA_NEON };
#else
static const struct ig_gemm_set *const sets[] = {NULL};
enum { ISA = IG_ISA_REF };
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

static double percent(const struct ig_gemm_set *set, int32_t rows, int32_t width, float *memory, double peak)
{
    const float *a[IG_GEMM_MAX_MR];
    float *c[IG_GEMM_MAX_MR], *panel = memory + IG_GEMM_MAX_MR * (K + 16), *out = panel + IG_GEMM_MAX_NR * (K + 1);
    struct tile t = {{.a = a, .taps = 1, .k = K, .b = panel + set->nr, .bias = panel, .c = c, .panels = 1, .groups = 1},
                     set->fn[width / IG_GEMM_STEP - 1][rows - 1]};
    for (int32_t m = 0; m < set->mr; m++) {
        a[m] = memory + m * (K + 16);
        c[m] = out + m * IG_GEMM_MAX_NR;
    }
    double ns = ig_time_least(calls, &t, 0.01);
    return 100 * 2.0 * rows * width * K * CALLS / ns / peak;
}

void ig_micro_gemm(double peak)
{
    float *memory = aligned_alloc(64, 1 << 16);
    if (!memory) abort();
    for (int i = 0; i < 1 << 14; i++) memory[i] = 0;
    for (int s = 0; sets[s] && ig_isa_runs_here(ISA); s++)
        for (int32_t width = IG_GEMM_STEP; width <= sets[s]->nr; width += IG_GEMM_STEP) {
            printf("panels of %d, width %2d: ", sets[s]->nr, width);
            for (int32_t rows = 1; rows <= sets[s]->mr; rows++)
                printf(" %dx%d %5.1f%%", rows, width, percent(sets[s], rows, width, memory, peak));
            printf("\n");
        }
    free(memory);
}
