/* platforms/zen4.json, in the program: a plan needs no file but its network, and is the same everywhere. */
#include "planner/costs.h"

#include <stdio.h>
#include <stdlib.h>

#include "kernels_cpu/kernel.h"

static const char zen4[] =
#include "planner/zen4.inc"
    ;

static const char *const texts[IG_ISAS] = {[IG_ISA_AVX2] = zen4};

const struct ig_platform *ig_costs_of(int32_t isa)
{
    static struct ig_platform *boards[IG_ISAS];
    char err[512];
    if (boards[isa] || !texts[isa]) return boards[isa];
    boards[isa] = ig_platform_parse(texts[isa], "platforms/zen4.json", err, sizeof err);
    if (boards[isa]) return boards[isa];
    fprintf(stderr, "ingot: %s\n", err); /* the file came with the source, and tests read it */
    abort();
}
