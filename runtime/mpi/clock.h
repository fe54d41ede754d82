/*
 * How far another machine's clock is ahead of this one's: a range, which every message between the two narrows, as none
 * comes before it left. Of a message there and its answer the middle is what F. Cristian takes ("Probabilistic clock
 * synchronization", 1989); of several all bounds hold at once (K. Marzullo's intersection, 1984), so that the quickest
 * message of each way counts, whichever round trip it was of.
 */
#ifndef RUNTIME_MPI_CLOCK_H
#define RUNTIME_MPI_CLOCK_H

#include <stdint.h>

struct ig_clock {
    int64_t least, most; /* ns that the other one is ahead */
};

/* Nothing is known; it is one and the same clock. */
void ig_clock_begin(struct ig_clock *c);
void ig_clock_same(struct ig_clock *c);
/* A message from there, or to there: when it left and came, each by the clock of the place. */
void ig_clock_from(struct ig_clock *c, int64_t left, int64_t came);
void ig_clock_to(struct ig_clock *c, int64_t left, int64_t came);
/* The middle of the range, and how far off that can be. */
int64_t ig_clock_ahead(const struct ig_clock *c);
int64_t ig_clock_error(const struct ig_clock *c);
/* From `left` there to `came` here, ns: more than 0, as what has come says that it could. */
int64_t ig_clock_since(struct ig_clock *c, int64_t left, int64_t came);

#endif
