/* A stage of a pipeline on the GPU: its frames go from slot to slot through a captured graph. */
#ifndef RUNTIME_GPU_STAGE_H
#define RUNTIME_GPU_STAGE_H

#include "runtime/gpu/gpu.h"
#include "runtime/pipeline.h"

struct ig_gpu_place {                  /* of a tensor: `offset` bytes behind where the frame's slots begin for `slot` */
    int32_t slot;
    int64_t offset;
};

struct ig_gpu_stage {                  /* baked */
    const struct ig_gpu_plan *plan;    /* of its launches */
    const struct ig_gpu_place *places; /* of the plan's inputs, then its outputs */
    int32_t stage;                     /* which of the pipeline's */
};

struct ig_gpu_worker {                 /* the caller's, as long as the pipeline runs */
    struct ig_gpu *gpu;                /* open, of the stage's plan; no other thread uses it */
    const struct ig_gpu_stage *stage;
    char why[200];                     /* the last frame that failed: the stage's thread writes it */
    struct ig_gpu *others;             /* of alternatives behind the first, whose stages follow the first's: open beside */
};

/*
 * A pipeline's `work`, with a worker as its argument: the GPU's stage waits for its frame, other stages run on their
 * teams. IG_ERROR_STAGE where the GPU fails, as it then will for all frames to come.
 */
int ig_gpu_work(void *worker, int32_t stage, struct ig_team *team, const struct ig_run *run);

/* The same of a frame with that alternative: what ig_cut_run.work does. */
int ig_gpu_cut_work(void *worker, int32_t cut, int32_t stage, struct ig_team *team, const struct ig_run *run);

#endif
