/*
 * The machine's multiply-add peaks: register-only loops of independent chains, the bar that kernels are held against.
 * One loop for each set of vector instructions that such a machine may have, the kernels' own first.
 */
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "bench/machine.h"
#include "bench/profile.h"

enum { LOOPS = 20000, RUNS = 500 /* short ones: a machine that others use is seldom alone for long */, CHAINS = 12 };

struct set {
    const char *isa;
    int lanes;
    int (*there)(void);
    void (*chains)(long loops);
};

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

#if defined(__x86_64__)
/* A product that is added, in each of twelve registers; sums and factors are zero. */
#define SSE2(i) "mulps %%xmm15, %%xmm" #i "\n\taddps %%xmm14, %%xmm" #i "\n\t"
#define AVX2(i) "vfmadd231ps %%ymm15, %%ymm14, %%ymm" #i "\n\t"
#define AVX512(i) "vfmadd231ps %%zmm15, %%zmm14, %%zmm" #i "\n\t"
#define TWELVE(op) op(0) op(1) op(2) op(3) op(4) op(5) op(6) op(7) op(8) op(9) op(10) op(11)
#define CHAINS_OF(zero, op, end)                                                                                       \
    __asm__ volatile(zero "1:\n\t" TWELVE(op) "dec %0\n\tjnz 1b\n\t" end                                               \
                     : "+r"(loops)                                                                                     \
                     :                                                                                                 \
                     : "xmm0", "xmm1", "xmm2", "xmm3", "xmm4", "xmm5", "xmm6", "xmm7", "xmm8", "xmm9", "xmm10",        \
                       "xmm11", "xmm14", "xmm15", "cc")
static int has_sse2(void)
{
    return 1;
}
static int has_avx2(void)
{
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
}
static int has_avx512(void)
{
    return __builtin_cpu_supports("avx512f") != 0;
}
static void sse2(long loops)
{
    CHAINS_OF("xorps %%xmm14, %%xmm14\n\txorps %%xmm15, %%xmm15\n", SSE2, "");
}
static void avx2(long loops)
{
    CHAINS_OF("vxorps %%ymm14, %%ymm14, %%ymm14\n\tvxorps %%ymm15, %%ymm15, %%ymm15\n", AVX2, "vzeroupper");
}
static void avx512(long loops)
{
    CHAINS_OF("vxorps %%ymm14, %%ymm14, %%ymm14\n\tvxorps %%ymm15, %%ymm15, %%ymm15\n", AVX512, "vzeroupper");
}
static const struct set sets[] = {
    {"avx2", 8, has_avx2, avx2}, {"avx512", 16, has_avx512, avx512}, {"sse2", 4, has_sse2, sse2}, {NULL, 0, NULL, NULL}};
#elif defined(__aarch64__)
static int has_neon(void)
{
    return 1;
}
#define FMA(i) "fmla v" #i ".4s, v30.4s, v31.4s\n\t"
static void neon(long loops)
{
    __asm__ volatile("movi v30.4s, #0\n\tmovi v31.4s, #0\n"
                     "1:\n\t" FMA(0) FMA(1) FMA(2) FMA(3) FMA(4) FMA(5) FMA(6) FMA(7) FMA(16) FMA(17) FMA(18)
                         FMA(19) "subs %0, %0, #1\n\tb.ne 1b"
                     : "+r"(loops)
                     :
                     : "v0", "v1", "v2", "v3", "v4", "v5", "v6", "v7", "v16", "v17", "v18", "v19", "v30",
                       "v31", "cc");
}
static const struct set sets[] = {{"neon", 4, has_neon, neon}, {NULL, 0, NULL, NULL}};
#else
static const struct set sets[] = {{NULL, 0, NULL, NULL}};
#endif

const char *ig_peak_isa(int i)
{
    return sets[i].isa;
}

double ig_peak_of(int i)
{
    const struct set *s = &sets[i];
    double best = 0;
    if (!s->isa || !s->there()) return 0;
    for (int run = 0; run < RUNS; run++) {
        double start = now();
        s->chains(LOOPS);
        double gflops = 2e-9 * LOOPS * s->lanes * CHAINS / (now() - start);
        if (gflops > best) best = gflops;
    }
    return best;
}

double ig_fma_peak(void)
{
    double best = 0;
    for (int i = 0; sets[i].isa; i++) {
        double gflops = ig_peak_of(i);
        if (gflops > best) best = gflops;
    }
    return best;
}

void ig_cpu_name(char *text, size_t n)
{
    char line[256];
    snprintf(text, n, "unknown");
    FILE *f = fopen("/proc/cpuinfo", "r");
    while (f && fgets(line, sizeof line, f)) {
        char *colon = strchr(line, ':');
        if (!colon || (strncmp(line, "model name", 10) && strncmp(line, "CPU part", 8))) continue;
        line[strcspn(line, "\n")] = 0;
        snprintf(text, n, "%s", colon + 2);
        break;
    }
    if (f) fclose(f);
}
