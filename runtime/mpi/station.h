/* A rank at work: its memory, its flows, and who fills and reads them. */
#ifndef RUNTIME_MPI_STATION_H
#define RUNTIME_MPI_STATION_H

#include "runtime/mpi/user.h"
#include "runtime/mpi/wire.h"
#include "runtime/mpi/worker.h"

struct ig_station {
    const struct ig_rank *rank;
    struct ig_bell bell;
    struct ig_flow *flows; /* [n_buffers], then the stamps' */
    struct ig_worker worker;
    struct ig_entry entry;
    struct ig_result result;
    struct ig_wire_edge *edges;
    int32_t n_edges, n_peers;
    int32_t *peers;     /* ranks that share an edge with it, each once */
    int enters, leaves; /* do frames enter here, results leave? */
};

/*
 * Memory, weights and contexts: all but the ends that depend on who else there is. on_gpu[n_parts]: contexts that a GPU
 * computes, or NULL: the rank's cores do. Dies if there is no room.
 */
void ig_station_build(struct ig_station *s, const struct ig_rank *rank, int pinned, const struct ig_ctx *on_gpu);
/* The user's ends and the edges; results leave at rank `out`. */
void ig_station_connect(struct ig_station *s, int32_t out);

#endif
