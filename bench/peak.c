/* The machine's fused multiply-add peak: a register-only loop of independent chains, the bar that kernels are
 * held against. */
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "bench/profile.h"

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

#if defined(__x86_64__)
enum { LANES = 8, CHAINS = 12 };
static int has_fma(void)
{
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
}
#define FMA(i) "vfmadd231ps %%ymm15, %%ymm14, %%ymm" #i "\n\t"
static void chains(long loops)
{
    __asm__ volatile("vxorps %%ymm14, %%ymm14, %%ymm14\n\tvxorps %%ymm15, %%ymm15, %%ymm15\n\t"
                     "1:\n\t" FMA(0) FMA(1) FMA(2) FMA(3) FMA(4) FMA(5) FMA(6) FMA(7) FMA(8) FMA(9) FMA(10)
                         FMA(11) "dec %0\n\tjnz 1b\n\tvzeroupper"
                     : "+r"(loops)
                     :
                     : "xmm0", "xmm1", "xmm2", "xmm3", "xmm4", "xmm5", "xmm6", "xmm7", "xmm8", "xmm9",
                       "xmm10", "xmm11", "xmm14", "xmm15", "cc");
}
#elif defined(__aarch64__)
enum { LANES = 4, CHAINS = 12 };
static int has_fma(void)
{
    return 1;
}
#define FMA(i) "fmla v" #i ".4s, v30.4s, v31.4s\n\t"
static void chains(long loops)
{
    __asm__ volatile("movi v30.4s, #0\n\tmovi v31.4s, #0\n"
                     "1:\n\t" FMA(0) FMA(1) FMA(2) FMA(3) FMA(4) FMA(5) FMA(6) FMA(7) FMA(16) FMA(17) FMA(18)
                         FMA(19) "subs %0, %0, #1\n\tb.ne 1b"
                     : "+r"(loops)
                     :
                     : "v0", "v1", "v2", "v3", "v4", "v5", "v6", "v7", "v16", "v17", "v18", "v19", "v30",
                       "v31", "cc");
}
#else
enum { LANES = 1, CHAINS = 1 };
static int has_fma(void)
{
    return 0;
}
static void chains(long loops)
{
    (void)loops;
}
#endif

double ig_fma_peak(void)
{
    const long loops = 1000000;
    double best = 0;
    if (!has_fma()) return 0;
    for (int i = 0; i < 10; i++) {
        double start = now();
        chains(loops);
        double gflops = 2e-9 * (double)loops * LANES * CHAINS / (now() - start);
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
