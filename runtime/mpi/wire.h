/*
 * The messages of a rank's edges, by persistent requests straight out of and into the copies of its flows. A receive is
 * started only when its copy is free and a send completes only when its receive was (they are synchronous), so that a
 * slow rank holds those before it back and nothing piles up. Of the thread that called MPI_Init alone.
 */
#ifndef RUNTIME_MPI_WIRE_H
#define RUNTIME_MPI_WIRE_H

#include "runtime/mpi/flow.h"
#include "runtime/mpi/rank.h"

struct ig_wire;

struct ig_wire_edge {
    struct ig_rank_edge edge;
    const char *tensor;
    struct ig_flow *flow;
    int32_t reader; /* of the flow, that a send is; -1: a receive, which is the flow's writer */
    int counts;     /* its bytes are the network's; else it is a message of the runtime's own, with tags of its own */
};

struct ig_moved {
    int32_t started, retired; /* messages; the rank's bell is to ring for these */
};

struct ig_traffic {                                 /* so far */
    int64_t sent_bytes, received_bytes, sending_ns; /* while a message was on its way out */
};

/* edges[n] are copied. heard[n_ranks]: when a message came from each rank. Dies if MPI cannot have such messages. */
struct ig_wire *ig_wire_open(const struct ig_rank *rank, const struct ig_wire_edge *edges, int32_t n, int64_t *heard);
/* Starts what can be started and retires, in order, what is complete. A 0-byte message ends a flow. */
struct ig_moved ig_wire_poll(struct ig_wire *w);
/* Have all streams ended? */
int ig_wire_over(const struct ig_wire *w);
struct ig_traffic ig_wire_traffic(const struct ig_wire *w);
/* What the rank waits for from or for `peer`, for a line on stderr: a tensor and a frame. */
const char *ig_wire_awaited(const struct ig_wire *w, int32_t peer, uint64_t *frame, const char **doing);
void ig_wire_close(struct ig_wire *w);

#endif
