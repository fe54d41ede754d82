/*
 * Memory against time: a plan is a list of segments, each a step alone or a band, and what it holds in memory is the
 * most that any of its segments does. A segment's bytes do not depend on how the rest is cut, so that the best lists
 * are found exactly by going through the steps once, keeping for every step the front of (bytes, time).
 */
#ifndef PLANNER_SEGMENTS_H
#define PLANNER_SEGMENTS_H

#include <stdint.h>

#include "planner/plan.h"

struct ig_segment {
    int32_t first, last;     /* steps; equal: a step alone */
    int32_t band;            /* index into `bands`; -1: a step alone */
    int64_t bytes;           /* tensors held while it runs, rings and scratch of all threads */
    int64_t ns;
    int32_t lean;            /* of its kernels: that with which the plan was added */
};

struct ig_segments {         /* all that a plan may consist of */
    int32_t n_steps, n, n_bands;
    int32_t n_stages;        /* that work at the same time, so that their bytes add up; no list has a segment in two. 0: one */
    int32_t stage_last[IG_PLAN_STAGES]; /* step */
    struct ig_segment *at;   /* by last step */
    struct ig_band_timing *bands;
    int64_t *gain;           /* [n_bands] bytes that a band's segment has less because of a row overlap */
};

struct ig_segment_point {    /* a list of segments */
    int64_t bytes, ns;       /* the most of them, of stages added up; the sum of them */
    int32_t n_bands;
    int32_t *bands;          /* indices into ig_segments.bands, by step */
    uint8_t *leans;          /* [n_steps] of every step's segment */
};

struct ig_segment_front {    /* by rising bytes and falling time, none as good as another in both */
    int32_t n;
    struct ig_segment_point *at;
};

/*
 * Steps alone, and bands, of chains and of branches: those that the profile has timed, and others by the estimate,
 * which where there is a profile is not trusted to be faster than its layers. The kernels of p's steps are chosen, it
 * has no bands.
 */
void ig_segments_make(const struct ig_graph *g, const struct ig_view *views, const struct ig_plan_options *options,
                      const struct ig_plan *p, struct ig_segments *s);
/* The same with other kernels, beside those that are there: segments of both may be mixed where their weights are alike. */
void ig_segments_add(const struct ig_graph *g, const struct ig_view *views, const struct ig_plan_options *options,
                     const struct ig_plan *p, int32_t lean, struct ig_segments *s);
/*
 * Segments that overlap (planner/overlap.h) may need more than their bytes where they follow each other: the distances add
 * up. The same without row overlaps therefore, and with the lowest phases alone, whose distances are least. v->at is the
 * caller's to free, all else is still s's.
 */
enum ig_segments_way { IG_SEGMENTS_ALL = 0, IG_SEGMENTS_LOW, IG_SEGMENTS_APART, IG_SEGMENTS_WAYS };
void ig_segments_restrict(const struct ig_segments *s, enum ig_segments_way way, struct ig_segments *v);
void ig_segments_free(struct ig_segments *s);

/* All that is best, exactly, for each stage and so for their sum. */
void ig_segments_exact(const struct ig_segments *s, struct ig_segment_front *front);

enum { IG_NSGA2_GENERATIONS = 200 };
/*
 * The search of Minakova & Stefanov (2022, Algorithm 2), as a baseline: NSGA-II (Deb 2002) over one gene a step, 1: by
 * parts; neighbours that are both by parts are one band where they can be. The same segments, so the same bytes and
 * times; the same seed gives the same front.
 */
void ig_segments_nsga2(const struct ig_segments *s, uint64_t seed, int32_t generations,
                       struct ig_segment_front *front);
void ig_segment_front_free(struct ig_segment_front *front);

#endif
