/* What a run of a deployment was like: of each rank, and of the frames. */
#ifndef RUNTIME_MPI_FIGURES_H
#define RUNTIME_MPI_FIGURES_H

#include "runtime/mpi/user.h"
#include "runtime/mpi/worker.h"

struct ig_figures { /* of a rank, the same bytes everywhere */
    int64_t frames, busy_ns, wait_ns, sending_ns, passing_ns, sent_bytes, received_bytes;
};

/* --bench: ranks[n_ranks], at the rank where results leave. */
void ig_print_figures(const struct ig_result *r, const struct ig_figures *ranks, int json);
/* --per-rank, AutoDiCE's: "IRank: 0  min = ..", and 0_PERFORMANCE.txt (mean ms) and 0_MEMORY.txt (resident MiB). */
void ig_write_rank_files(int32_t rank, const struct ig_intervals *v);
/* --info */
void ig_print_rank(const struct ig_rank *r, int json);

#endif
