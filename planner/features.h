/*
 * What a kernel's time on a CPU is made of: t = sum of cost * feature, costs >= 0 and fitted per kernel family to some
 * two dozen measured layers (aggregate of overlap is partial on a CPU, hence a sum where ALOHA has a maximum).
 */
#ifndef PLANNER_FEATURES_H
#define PLANNER_FEATURES_H

#include "kernels_cpu/kernel.h"
#include "planner/platform.h"

struct ig_caches {
    int64_t bytes[IG_MAX_CACHES]; /* near to far, of one core */
    int32_t n;
};
/* Those of a processor. */
struct ig_caches ig_caches_of(const struct ig_platform *b, const struct ig_processor *p);

/* The family whose costs kernel k has on this call ("conv_f32_6x16__avx2", or with what sets it apart); NULL: none. */
const char *ig_family(const struct ig_kernel *k, const struct ig_call *call);
/* The features of one call (one image, one thread), in the order of ig_feature_names. 0, or -1 where k has no family. */
int ig_features(const struct ig_kernel *k, const struct ig_call *call, const struct ig_caches *caches, double *f);
/* Predicted ns on that processor; IG_UNKNOWN if it has no costs for the family. */
double ig_cost_ns(const struct ig_platform *b, const struct ig_processor *p, const struct ig_kernel *k,
                  const struct ig_call *call);

#endif
