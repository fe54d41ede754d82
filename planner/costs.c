/* platforms/{zen4,xeon}.json, in the program: a plan needs no file but its network, and is the same everywhere. */
#include "planner/costs.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kernels_cpu/kernel.h"

static const char zen4[] =
#include "planner/zen4.inc"
    ;

static const char xeon[] =
#include "planner/xeon.inc"
    ;

static const char *const texts[IG_ISAS] = {
    [IG_ISA_AVX2] = zen4, [IG_ISA_AVXVNNI] = zen4, [IG_ISA_AVX512] = xeon, [IG_ISA_VNNI] = xeon, [IG_ISA_AMX] = xeon};
static const char *const files[IG_ISAS] = {
    [IG_ISA_AVX2] = "platforms/zen4.json", [IG_ISA_AVXVNNI] = "platforms/zen4.json", [IG_ISA_AVX512] = "platforms/xeon.json",
    [IG_ISA_VNNI] = "platforms/xeon.json", [IG_ISA_AMX] = "platforms/xeon.json"};

static const char *const suffixes[IG_ISAS] = {
    [IG_ISA_AVX2] = "__avx2", [IG_ISA_AVXVNNI] = "__avxvnni", [IG_ISA_AVX512] = "__avx512", [IG_ISA_VNNI] = "__vnni", [IG_ISA_AMX] = "__amx",
    [IG_ISA_NEON] = "__neon", [IG_ISA_FP16] = "__fp16", [IG_ISA_DOTPROD] = "__dotprod"};
static struct ig_platform *boards[IG_ISAS];

int32_t ig_costs_use(struct ig_platform *b)
{
    int32_t used = 0;
    for (int32_t isa = 0; isa < IG_ISAS; isa++) {
        int32_t i = 0, n = b->processors[0].n_costs;
        while (suffixes[isa] && i < n && !strstr(b->processors[0].costs[i].family, suffixes[isa])) i++;
        if (!suffixes[isa] || i == n) continue;
        boards[isa] = b;
        used++;
    }
    return used;
}

const struct ig_platform *ig_costs_of(int32_t isa)
{
    char err[512];
    if (boards[isa] || !texts[isa]) return boards[isa];
    boards[isa] = ig_platform_parse(texts[isa], files[isa], err, sizeof err);
    if (boards[isa]) return boards[isa];
    fprintf(stderr, "ingot: %s\n", err); /* the file came with the source, and tests read it */
    abort();
}
