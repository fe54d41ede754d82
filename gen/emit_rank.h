/* The sources of one rank of a deployment: its main file, beside the tables and weights of each of its parts. */
#ifndef GEN_EMIT_RANK_H
#define GEN_EMIT_RANK_H

#include "gen/emit.h"
#include "planner/deploy/mapping.h"
#include "planner/deploy/ranks.h"

struct ig_emit_rank {
    const char *network;             /* its name */
    const struct ig_graph *graph;    /* whole, as parts were cut from it */
    const struct ig_mapping *mapping;
    const struct ig_ranks *ranks;
    int32_t rank;
    const struct ig_emit *parts;     /* [n_parts] of the rank */
    const struct ig_emit *whole;     /* labels, mean, std and host_ops of the network; no lowered, no prefix */
    const char *target;              /* name */
    int64_t arena_bytes;             /* the largest of the parts' */
    double period_ns, rank_ns;       /* predicted: from one result of the deployment to the next; this rank's work */
    const char *plan_sha256;         /* of the deployment */
};

/* Threads of the key's team. */
int32_t ig_emit_rank_threads(const struct ig_emit_rank *e);
void ig_emit_rank_main(FILE *f, const struct ig_emit_rank *e);

#endif
