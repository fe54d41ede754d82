/*
 * Which of several baked partitions the next frame should take, from how long each processor worked on the last ones.
 * No malloc, no floats, no libc, no clock: whoever pops results calls ig_adapt_frame, one thread.
 *
 * Per processor the logarithm of busy / predicted is followed slowly, and a two-sided CUSUM tells when outside load has
 * changed it. Then the best alternative is known by the predictions of all, without trying any: frames carry their
 * alternative with them, so that nothing drains. What was tried and found worse than predicted is remembered, and
 * banned for a while.
 */
#ifndef RUNTIME_ADAPT_H
#define RUNTIME_ADAPT_H

#include <stdint.h>

enum { IG_ADAPT_ALTERNATIVES = 32, IG_ADAPT_PROCESSORS = 4, IG_ADAPT_LAST = 5 };

struct ig_adapt { /* logarithms are natural ones times 65536 */
    int32_t n_alternatives, n_processors;
    int32_t predicted[IG_ADAPT_ALTERNATIVES][IG_ADAPT_PROCESSORS]; /* log of busy ns a frame; < 0: no work there */
    int32_t sigma[IG_ADAPT_PROCESSORS];                            /* of log busy, without outside load */
    int32_t load[IG_ADAPT_PROCESSORS];                             /* how much slower it is by outside load */
    int32_t up[IG_ADAPT_PROCESSORS], down[IG_ADAPT_PROCESSORS];
    int32_t last[IG_ADAPT_PROCESSORS][IG_ADAPT_LAST], n_last[IG_ADAPT_PROCESSORS];
    int32_t error[IG_ADAPT_ALTERNATIVES]; /* of the predicted period, where it was measured */
    int32_t known[IG_ADAPT_ALTERNATIVES];
    int32_t banned[IG_ADAPT_ALTERNATIVES], ban[IG_ADAPT_ALTERNATIVES]; /* frames still to go; of the last ban */
    int32_t measured[IG_ADAPT_LAST];                                   /* log of the last periods */
    int32_t current, frames;                                           /* alternative; how many frames of it came out */
    int32_t back, back_period; /* the one before, -1: none; log of its period when it was left */
    int32_t wanted;            /* a decision is due */
    int32_t alarms, switches;  /* counted for reports */
};

/*
 * predicted_ns[alternatives][processors]: of a frame, 0: no work there; sigma[processors] in 1/1000 of the time (at
 * least 30 are assumed); starts with alternative `first`.
 */
void ig_adapt_start(struct ig_adapt *a, const int64_t *predicted_ns, int32_t alternatives, int32_t processors,
                    const int32_t *sigma, int32_t first);
/*
 * A frame came out: its alternative, how long each processor worked on it without waiting for slots, and the time since
 * the frame before it came out. Returns the alternative that the next frame to enter should take.
 */
int32_t ig_adapt_frame(struct ig_adapt *a, int32_t alternative, const int64_t *busy_ns, int64_t interval_ns);
/* Natural logarithm times 65536, x >= 1. */
int32_t ig_adapt_log(int64_t x);

#endif
