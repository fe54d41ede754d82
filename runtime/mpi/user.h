/*
 * The user's ends of a deployment: a thread that fills the inputs where frames enter, and one that prints results where
 * they leave. Beside the tensors goes the time that a frame entered at, as a flow of its own.
 */
#ifndef RUNTIME_MPI_USER_H
#define RUNTIME_MPI_USER_H

#include <pthread.h>

#include "runtime/mpi/clock.h"
#include "runtime/mpi/flow.h"
#include "runtime/mpi/rank.h"

enum { IG_STAMPS = 64, IG_TIMED = 1 << 16 }; /* frames on their way, at most; results that --bench notes the times of */

struct ig_entry { /* frames enter */
    const struct ig_rank *rank;
    struct ig_flow *flows, *stamp;
    struct ig_bell *bell;
    const struct ig_options *options;
    _Atomic int32_t over;
    size_t got, bytes; /* of an input that the stream ended in; 0 and 0: in none */
    pthread_t thread;
};

struct ig_result { /* results leave */
    const struct ig_rank *rank;
    struct ig_flow *flows, *stamp;
    int32_t *reader; /* [n_outputs] its number among the readers of each output */
    int32_t stamp_reader;
    struct ig_bell *bell;
    const struct ig_options *options;
    struct ig_clock clock; /* that of the stamps */
    _Atomic int32_t over;
    int64_t *done_ns, *latency_ns; /* [IG_TIMED] of --bench; else NULL */
    uint64_t frames;
    pthread_t thread;
};

/* All above `over` is filled in. Files are read before the first returns: dies if they cannot be. */
void ig_entry_start(struct ig_entry *f);
void ig_result_start(struct ig_result *r);

#endif
