/*
 * The thread that computes: whichever of the rank's parts has its inputs and free copies for its outputs, that of the
 * oldest frame first, on a team of the rank's cores.
 */
#ifndef RUNTIME_MPI_WORKER_H
#define RUNTIME_MPI_WORKER_H

#include "runtime/mpi/flow.h"
#include "runtime/mpi/rank.h"
#include "runtime/team.h"

enum { IG_WARM_FRAMES = 4 }; /* the first, whose intervals are not counted */

struct ig_part_run {
    const struct ig_rank_part *part;
    struct ig_ctx ctx;
    int32_t *reader; /* [n_inputs] its number among the readers of each */
    uint64_t frame;  /* the next */
    int over;        /* no more will come */
};

struct ig_intervals { /* from one frame that is done to the next, ns */
    int64_t n, least, most, sum;
};

struct ig_worker {
    const struct ig_rank *rank;
    struct ig_flow *flows;
    struct ig_bell *bell;
    struct ig_part_run *parts; /* [n_parts], with contexts that are ready */
    int pinned;                /* every thread to a core of the rank's, in turn */
    _Atomic int32_t waits;     /* nothing to do now */
    _Atomic int32_t over;      /* ... for ever */
    /* Once it is over: */
    int64_t busy_ns, wait_ns; /* computing; idle between the first frame and the last */
    uint64_t frames;
    struct ig_intervals intervals;
    /* Its own: */
    int64_t begun_ns, done_ns;
    struct ig_team team;
    pthread_t thread;
};

/* All is filled in down to `pinned`. Dies if the system will not start the threads. */
void ig_worker_start(struct ig_worker *w);
/* Once it is over. */
void ig_worker_join(struct ig_worker *w);

#endif
