/*
 * The baked form of one rank of a deployment: which parts of the network it runs, on which cores, and what passes
 * between them, other ranks and its user. A generated file fills it; runtime/mpi/ executes it.
 *
 * Every tensor that passes has a buffer of some copies, taken in turn, frame after frame; parts read and write it in
 * place, and messages leave and arrive there.
 */
#ifndef RUNTIME_MPI_RANK_H
#define RUNTIME_MPI_RANK_H

#include "runtime/host/program.h"

enum { IG_RANK_FORMAT = 2, IG_RANK_COPIES = 16, IG_RANK_PARTS = 256, IG_RANK_BUFFERS = 1024 };

struct ig_rank_buffer {
    const char *tensor; /* name in the ONNX file */
    int64_t bytes;      /* of one copy, dense, in the layout that both sides planned */
    int32_t copies;     /* >= 1 */
    int32_t writer;     /* part of this rank; -1: a message or the user */
};

struct ig_rank_part {   /* in topological order */
    const struct ig_program *program;
    int64_t base;       /* of its arena in the rank's, bytes; parts of a rank run one at a time and share it */
    const int32_t *in, *out; /* buffers, in the order of the program's inputs and outputs */
};

struct ig_rank_edge {   /* a message a frame; the tag is number * IG_RANK_COPIES + copy */
    int32_t buffer;
    int32_t peer;       /* rank */
    int32_t number;     /* among the edges of the deployment */
    int32_t copies;     /* of tags, the same on both sides; at most IG_RANK_COPIES */
};

struct ig_rank_gpu; /* runtime/mpi/gpu.h */

struct ig_rank {
    const char *network;             /* its name */
    const struct ig_program *whole;  /* the network's inputs, outputs, labels and scaling; no steps */
    const char *const *keys;         /* [n_ranks] */
    const int16_t *cores;            /* [n_cores] that it is pinned to; none: any */
    const struct ig_rank_part *parts;
    const struct ig_rank_buffer *buffers;
    const struct ig_rank_edge *sends, *receives;
    const struct ig_rank_gpu *gpu;   /* of a key that is a GPU's; else NULL, and nothing of one is linked */
    const int32_t *inputs, *outputs; /* buffers that the user fills and reads, by the network's number; -1: another rank's */
    int32_t rank, n_ranks, n_cores, threads, n_parts, n_buffers, n_sends, n_receives;
    int64_t arena_bytes;             /* for all parts */
    double period_ns;                /* predicted, of the whole deployment: from one result to the next */
    double rank_ns;                  /* predicted: this rank's work on a frame */
    int32_t silence_ms;              /* how long a peer may give no sign of life; 0: IG_SILENCE_MS */
    unsigned char plan_hash[32];     /* of the deployment, the same in all ranks */
};

/* The whole program of a rank: MPI_Init to MPI_Finalize; its exit status. */
int ig_rank_main(int argc, char **argv, const struct ig_rank *rank);

#endif
