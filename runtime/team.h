/*
 * A team of threads that runs one frame together: woken once a frame, then in step through spinning barriers.
 */
#ifndef RUNTIME_TEAM_H
#define RUNTIME_TEAM_H

#include <pthread.h>
#include <stdatomic.h>

#include "runtime/run.h"

enum { IG_LINE = 64 }; /* bytes of a cache line: no two threads' words share one */

enum { IG_SHARE_LINES = 16 }; /* threads beyond that share lines */

struct ig_shares { /* of every IG_SHARE_LINES'th thread: how many of its chunks of a step are taken, of even steps, of odd */
    _Alignas(IG_LINE) _Atomic int32_t taken[IG_MAX_THREADS / IG_SHARE_LINES][2];
};

struct ig_team {
    struct ig_shares shares[IG_SHARE_LINES];
    _Alignas(IG_LINE) _Atomic int32_t arrived;  /* threads at the barrier */
    _Alignas(IG_LINE) _Atomic uint32_t phase;   /* barriers passed; a futex word */
    _Alignas(IG_LINE) _Atomic uint32_t frame;   /* frames started; a futex word */
    _Alignas(IG_LINE) _Atomic int32_t sleepers; /* threads in a futex wait */
    _Atomic int32_t ids;                        /* hands out thread numbers */
    const struct ig_run *run;                   /* of the current frame; NULL: stop */
    int64_t passed_ns;                          /* when the frame began or the last barrier opened, in a timed run */
    int32_t threads;                            /* with the caller */
    int32_t most_spins;    /* looks at a word before sleeping; 0 with more threads than cores */
    _Atomic int32_t spins; /* ... now: fewer while looking has been in vain */
    pthread_t handles[IG_MAX_THREADS];
};

/* Starts threads - 1 threads, which wait for the first frame. IG_OK or IG_ERROR_THREADS. */
int ig_team_start(struct ig_team *team, int32_t threads);
/* Runs one frame on the caller and the team; returns when all is computed. */
void ig_team_run(struct ig_team *team, const struct ig_run *run);
/* Ends the threads; the team may be started again. */
void ig_team_stop(struct ig_team *team);

#endif
