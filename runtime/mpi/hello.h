/* How the ranks of a deployment meet: MPI_Init, and that they are all there and of one plan. */
#ifndef RUNTIME_MPI_HELLO_H
#define RUNTIME_MPI_HELLO_H

#include "runtime/mpi/clock.h"
#include "runtime/mpi/rank.h"

enum { IG_LINE_BYTES = 4096 }; /* of a command line */

struct ig_met {
    int32_t out;              /* the rank where results leave */
    struct ig_clock clock;    /* rank 0's, where results leave; elsewhere one's own */
    char line[IG_LINE_BYTES]; /* rank 0's arguments, a 0 behind each */
    int n_arguments;
    int per_rank; /* rank 0's */
};

/* Of all ranks together. Dies, everywhere, where they do not fit, with a line of what does not. */
void ig_hello(int *argc, char ***argv, const struct ig_rank *rank, int per_rank, struct ig_met *met);
/* Of all ranks together: a communicator for messages that are not the network's. comm: an MPI_Comm's address. */
void ig_own_comm(void *comm);

#endif
