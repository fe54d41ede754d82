/*
 * Operating points and cuts together: a chain of layers on two processors, every pair of points, both orders, every
 * cut. A layer takes cycles / clock + memory time (memory has a clock of its own), so that half the clock is not twice
 * the time.
 */
#ifndef PLANNER_PIPE_DVFS_H
#define PLANNER_PIPE_DVFS_H

#include <stdint.h>

enum { IG_DVFS_POINTS = 32, IG_DVFS_CLASSES = 3 }; /* classes: convolutions, depthwise, fully connected */

struct ig_dvfs_point {
    int64_t khz, active_mw[IG_DVFS_CLASSES], idle_mw;
};
struct ig_dvfs_processor {
    int32_t n;
    struct ig_dvfs_point points[IG_DVFS_POINTS];
    const int64_t *cycles, *memory_ns; /* [layers] */
    const int64_t *load_ns;            /* [layers + 1] to load what is cut in front of layer i; [0]: the frame */
};
struct ig_dvfs {
    int32_t n;           /* layers */
    const uint8_t *kind; /* [n] class of each */
    struct ig_dvfs_processor on[2];
    int64_t board_mw;
};
struct ig_dvfs_plan {
    int32_t found, first; /* processor of the layers in front of the cut */
    int32_t cut;          /* layers of the first stage; n: one processor computes all */
    int32_t point[2];
    int64_t period_ns, energy_pj; /* a frame's, idle time paid, at the period that was asked for, else at its own */
};

/* cycles and memory time from two clocks: t = a / f + m. 0, or -1: t at the third clock is more than 5 % off. */
int ig_dvfs_fit(const int64_t *khz, const int64_t *ns, int32_t n, int64_t *cycles, int64_t *memory_ns);

/* Clocks unchanged: the faster of the processors alone, the other one idle. */
struct ig_dvfs_plan ig_dvfs_single(const struct ig_dvfs *d, const int32_t *point);
/* Clocks unchanged: the fastest cut. */
struct ig_dvfs_plan ig_dvfs_basic(const struct ig_dvfs *d, const int32_t *point);
/* The least energy of a frame that comes every period_ns. */
struct ig_dvfs_plan ig_dvfs_power_save(const struct ig_dvfs *d, int64_t period_ns);
/* The shortest period within that energy of a frame. */
struct ig_dvfs_plan ig_dvfs_boost(const struct ig_dvfs *d, int64_t energy_pj);
/* Both with every plan looked at: what the bounds leave out in the ones above is never missed. *looked: how many. */
struct ig_dvfs_plan ig_dvfs_search(const struct ig_dvfs *d, int64_t period_ns, int64_t energy_pj, int prune,
                                   int64_t *looked);

#endif
