/*
 * A rank whose parts a GPU computes, where there is one when it starts; else its cores do, by the CPU's plans of the same
 * parts. A generated file fills the tables; only such a rank links any of it.
 */
#ifndef RUNTIME_MPI_GPU_H
#define RUNTIME_MPI_GPU_H

#include "runtime/gpu/gpu.h"
#include "runtime/mpi/flow.h"
#include "runtime/mpi/rank.h"

struct ig_rank_launches { /* of a part */
    const struct ig_gpu_plan *plan;
    const void *constants; /* linked in, or NULL: appended to the program's file behind the weights of all parts */
    uint64_t constants_hash;
};

struct ig_rank_gpu {
    const struct ig_rank_launches *parts; /* [n_parts] of the rank */
    const char *chips;                    /* that there is code for: "62,72" */
    const char *ptx;                      /* chip from which on there is PTX, for drivers that do not take the code: "62"; or NULL */
    /* ig_rank_gpu_open, ig_rank_gpu_reach: */
    int (*open)(const struct ig_rank *rank, struct ig_ctx *ctx, char *why, size_t bytes);
    int (*reach)(const struct ig_rank *rank, const struct ig_ctx *ctx, const struct ig_flow *flows, char *why, size_t bytes);
};

/*
 * Weights and kernels of all parts to the GPU, and a frame of zeros of each: ctx[n_parts] run them there from now on, by one
 * thread at a time, and end the program where the GPU fails. 0, or -1 with one line in `why`, and nothing is left open.
 */
int ig_rank_gpu_open(const struct ig_rank *rank, struct ig_ctx *ctx, char *why, size_t bytes);
/*
 * Behind it, once the rank's buffers have their memory: locks it, if the GPU can do that, so that frames go between it and
 * the GPU without a copy on the host; there is a graph for each of the ways in which the copies of a part's buffers meet.
 * 0, or -1 with `why`: the GPU failed.
 */
int ig_rank_gpu_reach(const struct ig_rank *rank, const struct ig_ctx *ctx, const struct ig_flow *flows, char *why,
                      size_t bytes);

#endif
