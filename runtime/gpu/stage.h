/* A stage of a pipeline on the GPU: its frames go from slot to slot through a captured graph. */
#ifndef RUNTIME_GPU_STAGE_H
#define RUNTIME_GPU_STAGE_H

#include "runtime/gpu/slots.h"

struct ig_gpu_beside {                 /* launches of an alternative behind the first */
    struct ig_gpu gpu;                 /* open beside the first's */
    struct ig_gpu_slots slots;         /* as the worker's */
};

struct ig_gpu_worker {                 /* the caller's, as long as the pipeline runs */
    struct ig_gpu *gpu;                /* open, of the stage's plan; no other thread uses it */
    const struct ig_gpu_stage *stage;
    char why[200];                     /* the last frame that failed: the stage's thread writes it */
    struct ig_gpu_slots slots;         /* cleared, or opened: those that the GPU reaches */
    struct ig_gpu_beside *others;      /* of alternatives behind the first, whose stages follow the first's */
    int32_t n_others;                  /* that are open */
};

/*
 * Opens n alternatives beside worker->gpu, which is open, and tries each; `others` has room, the rest is cleared.
 * worker->gpu and stage are set. 0, or -1 with a line in why.
 */
int ig_gpu_open_others(struct ig_gpu_worker *worker, int32_t n, char *why, size_t bytes);
/* Closes these, and the first. */
void ig_gpu_part(struct ig_gpu_worker *worker);
/*
 * Before a pipeline starts that is cleared: it gets `work`, and slots that the GPU reaches, of the arena that it will
 * have. worker->gpu and stage are set. 0, or -1 with a line in why: the GPU failed.
 */
int ig_gpu_join(struct ig_gpu_worker *worker, struct ig_pipeline *pipeline, const struct ig_pipe *pipe, void *arena, char *why,
                size_t bytes);

/*
 * A pipeline's `work`, with a worker as its argument: the GPU's stage waits for its frame, other stages run on their
 * teams. IG_ERROR_STAGE where the GPU fails, as it then will for all frames to come.
 */
int ig_gpu_work(void *worker, int32_t stage, struct ig_team *team, const struct ig_run *run);

/* As ig_gpu_join, where ig_cuts_attach gives the pipeline its `work`: slots keep their places in the arena. */
int ig_gpu_join_cuts(struct ig_gpu_worker *worker, const struct ig_pipe *pipe, void *arena, char *why, size_t bytes);
/* The same as ig_gpu_work, of a frame with that alternative: what ig_cut_run.work does. */
int ig_gpu_cut_work(void *worker, int32_t cut, int32_t stage, struct ig_team *team, const struct ig_run *run);

#endif
