/*
 * What a kernel's time on a CPU is made of: t = sum of cost * feature, costs >= 0 and fitted per kernel family to a few
 * measured layers (planner/fit.h). A sum where ALOHA has a maximum, as compute and transfers overlap in part only.
 */
#ifndef PLANNER_FEATURES_H
#define PLANNER_FEATURES_H

#include "kernels_cpu/kernel.h"
#include "planner/plan.h"
#include "planner/platform.h"

enum ig_feature {
    IG_F_START = 0,  /* 1: the call */
    IG_F_WORK,       /* cycles of the multiply-add pipes, with what rows and columns of tiles waste; or vectors of 8 */
    IG_F_TILES,      /* tiles: prologue, epilogue */
    IG_F_TAPS,       /* taps of all tiles: pointers, and the loop's start */
    IG_F_GATHER,     /* addresses written where pixels do not lie evenly, or sums formed */
    IG_F_GROUPS,     /* groups of pixels, or rows */
    /* Bytes by the level that they come from: image, weights, output. The first-level cache is free. */
    IG_F_A_L2, IG_F_A_L3, IG_F_A_DRAM, IG_F_B_L2, IG_F_B_L3, IG_F_B_DRAM, IG_F_Y_L2, IG_F_Y_L3, IG_F_Y_DRAM,
    /* Pixels far enough apart that each is a stream of its own to the prefetcher. */
    IG_F_X_RUNS_L3, IG_F_X_RUNS_DRAM, IG_F_Y_RUNS_L3, IG_F_Y_RUNS_DRAM,
    IG_F_CONFLICTS,  /* vectors read whose cache set is crowded: pixels a multiple of many lines apart */
    IG_F_CALLS,      /* of micro-kernels, each over a run of groups and panels */
    IG_F_B_AGAIN,    /* bytes of panels that are too large for the second cache and passed over by every group; or that
                        are made of raw weights for every block */
    IG_FEATURES
};

struct ig_caches {
    int64_t bytes[IG_MAX_CACHES]; /* near to far, as one core has them; 0: there is none */
    struct ig_away away;          /* of the layer in its network */
};
/* away: NULL: as the last call left the caches. */
struct ig_caches ig_caches_of(const struct ig_platform *b, const struct ig_processor *p, const struct ig_away *away);

/* The family whose costs kernel k has on this call: its name, and for element-wise kernels the kind. NULL: none. */
const char *ig_family(const struct ig_kernel *k, const struct ig_call *call, char text[IG_WORD_BYTES]);
/*
 * f[IG_FEATURES] of one call (one image, whole, one thread) whose operands are where the last call left them.
 * 0, or -1 where k has no family.
 */
int ig_features(const struct ig_kernel *k, const struct ig_call *call, const struct ig_caches *caches, double *f);
/*
 * Predicted ns with those caches of that processor, activations that are no clamps included; IG_UNKNOWN if it has no
 * costs for the family. *memory_ns, unless NULL: how much of it waits for memory.
 */
double ig_cost_ns(const struct ig_processor *p, const struct ig_caches *caches, const struct ig_kernel *k,
                  const struct ig_call *call, double *memory_ns);

#endif
