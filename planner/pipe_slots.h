/* A pipeline with so many slots between its stages: how often a frame comes out, when each stage starts, how long it
 * takes. */
#ifndef PLANNER_PIPE_SLOTS_H
#define PLANNER_PIPE_SLOTS_H

#include <stdint.h>

struct ig_skip {             /* a tensor that a stage hands to one behind the next */
    int32_t from, to, slots; /* to > from + 1 */
};
struct ig_slots {
    int32_t n;            /* stages in order */
    const int64_t *ns;    /* [n] a frame takes */
    const int32_t *on;    /* [n] processor; NULL: each stage has its own */
    const int32_t *slots; /* [n - 1] between stage j and j + 1, >= 1: a frame has one from the start of the first to
                             the end of the second */
    int32_t n_skips;
    const struct ig_skip *skips;
};
struct ig_ratio {
    int64_t num, den;
};

/* ns from frame to frame if there is always a next one: the largest of processors' loads and cycles through slots. */
struct ig_ratio ig_slots_period(const struct ig_slots *s);
/*
 * start[frames][n], ns: a frame comes every interval_ns (0: always). A processor with several stages does what can
 * start first, of equals the older frame. Returns the end of the last.
 */
int64_t ig_slots_run(const struct ig_slots *s, int32_t frames, int64_t interval_ns, int64_t *start);
/* Slots that keep two stages apart by jitter: 3 if they are within 10 %, else 2. */
int32_t ig_slots_between(int64_t a_ns, int64_t b_ns);

#endif
