/* The baked form of a pipeline: which steps each stage runs, on which cores, and what passes between stages. */
#ifndef RUNTIME_STAGE_H
#define RUNTIME_STAGE_H

#include "runtime/step.h"

enum { IG_MAX_STAGES = 8, IG_MAX_SLOTS = 64 };

struct ig_stage {
    struct ig_model model; /* the network's, with this stage's steps and threads */
    const char *processor; /* as in the plan: "cpu:0-1" */
    uint64_t cores;        /* the same, a bit each; 0: any */
    int32_t first;         /* of its steps among the network's */
    double predicted_ns;
};

struct ig_slot {           /* a tensor that passes between stages, or between the caller and one */
    int64_t offset, bytes; /* of the first copy in the arena; from one copy to the next */
    int16_t from, to;      /* stages: the first that touches it, the last; -1: push, n_stages: pop */
    int32_t copies;
};

struct ig_pipe {
    const struct ig_model *model; /* all steps: what a call of <prefix>_run does, one stage after the other */
    const struct ig_stage *stages;
    const struct ig_slot *slots; /* the inputs', the outputs', then all others */
    int32_t n_stages, n_slots;
    int32_t flight; /* frames pushed and not yet through the last stage, at most IG_MAX_FLIGHT; 0: as many as find slots */
    double period_ns,
        full_ns; /* predicted: from one result to the next, and a frame's latency, if frames always wait */
};

/*
 * The same stages - cores, threads, kernels, weights - cut at several places. The slots are large enough for all of
 * them, and no stage touches another's memory, whichever alternative each frame takes.
 */
struct ig_cuts {
    const struct ig_pipe *pipe;    /* of the first alternative */
    const struct ig_stage *stages; /* [n][pipe->n_stages]; first: among that alternative's own steps */
    int32_t n;
};

#endif
