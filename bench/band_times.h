/* What trials say of a band: its layers' time by rows and one after the other, inside the whole network. */
#ifndef BENCH_BAND_TIMES_H
#define BENCH_BAND_TIMES_H

#include "planner/plan.h"

struct ig_band_times {
    struct ig_band_timing t; /* the estimate until it is timed; the means of what confirmed it, if anything has */
    int timed;
    int confirmed;           /* so many times */
};

/* The ns of one trial; `confirms` those of another: they count alone then. */
void ig_band_note(struct ig_band_times *b, double in_order_ns, double apart_ns, int confirms);

/* What a plan may go by: of hundreds of trials some look good by luck, so a gain that nothing has confirmed is none. */
struct ig_band_timing ig_band_believed(const struct ig_band_times *b);

#endif
