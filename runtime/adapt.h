/*
 * Which of several baked partitions the next frame should take, from how long each processor worked on the last ones.
 * No malloc, no floats, no libc, no clock: whoever pops results calls ig_adapt_frame, one thread.
 *
 * Per processor the logarithm of busy / predicted is followed slowly, and a two-sided CUSUM tells when outside load has
 * changed it: from the frame on where it began to, frames count afresh. Then the best alternative is known by the
 * predictions of all, without trying any: frames carry their alternative with them, so that nothing drains. What was
 * tried and found worse than predicted is remembered, and banned for a while.
 *
 * Two programs on a core run in slices of some milliseconds: of equal frames some take their time, others several times
 * as long. While frames are as uneven as that, it is their sum that tells the load, else their median. And a stage that
 * waits for others most of the time gets the core when it wants it, whoever else is there: that it then works as fast as
 * predicted is no sign that it could do more, and is believed after a while only, longer each time that it was wrong.
 */
#ifndef RUNTIME_ADAPT_H
#define RUNTIME_ADAPT_H

#include <stdint.h>

enum { IG_ADAPT_ALTERNATIVES = 32, IG_ADAPT_PROCESSORS = 4, IG_ADAPT_KEPT = 64 };

struct ig_adapt_processor { /* logarithms are natural ones times 65536 */
    int32_t sigma;          /* of log busy, without outside load */
    int32_t load;           /* log of how much longer than predicted it works */
    int32_t least;          /* the least that this has been */
    int32_t hits;           /* of the frames that load rests on: how many are far from the others */
    int32_t quiet;          /* frames since the last one that took as long as the load says, or longer */
    int32_t uneven;         /* frames for which they have been as uneven as slices make them */
    int32_t up, down;       /* CUSUMs, sigmas times 256 */
    int32_t n_up, n_down;   /* frames since they were 0 */
    int32_t age;            /* frames since the load changed */
    int32_t easy;           /* frames that it was below its load while it waited for others */
    int32_t told;           /* 1: ig_adapt_tell is called for it */
    int32_t shared;         /* others leave its cores no rest: 1, or 0, as was told; -1: not since the load changed */
    int32_t eased;          /* frames since that was believed */
    int32_t patience;       /* how often it was wrong to */
    uint32_t n;             /* frames so far, of which the last are kept */
    int32_t ratio[IG_ADAPT_KEPT]; /* log of busy / predicted */
    int64_t busy[IG_ADAPT_KEPT], predicted[IG_ADAPT_KEPT], interval[IG_ADAPT_KEPT]; /* ns */
};

struct ig_adapt {
    int32_t n_alternatives, n_processors;
    int64_t predicted_ns[IG_ADAPT_ALTERNATIVES][IG_ADAPT_PROCESSORS]; /* busy ns of a frame; 0: no work there */
    int32_t predicted[IG_ADAPT_ALTERNATIVES][IG_ADAPT_PROCESSORS];    /* its log; < 0: no work there */
    struct ig_adapt_processor processors[IG_ADAPT_PROCESSORS];
    int32_t error[IG_ADAPT_ALTERNATIVES]; /* of the predicted period, log, where it was measured */
    int32_t known[IG_ADAPT_ALTERNATIVES];
    int32_t banned[IG_ADAPT_ALTERNATIVES], ban[IG_ADAPT_ALTERNATIVES]; /* frames still to go; of the last ban */
    int64_t interval[IG_ADAPT_KEPT];                                   /* ns between the last frames of `current` */
    int32_t current, frames;                                           /* alternative; how many frames of it came out */
    int32_t back, back_period; /* the one before, -1: none; log of its period when it was left */
    int32_t promised;          /* log of the present one's period, as the model had it then */
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
/*
 * Optional: do a processor's cores rest at times (1), or has somebody work for them all the time (0)? Tells a stage that
 * shares them from one that has them alone and waits for others. Answers are awaited from the first call on, while
 * ig_adapt_asks.
 */
void ig_adapt_tell(struct ig_adapt *a, int32_t processor, int rests);
int ig_adapt_asks(const struct ig_adapt *a);
/* Natural logarithm times 65536, x >= 1. */
int32_t ig_adapt_log(int64_t x);

#endif
