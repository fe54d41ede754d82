/*
 * The slots of a pipeline that its stage on the GPU reads and writes, where the GPU reaches them: a frame is then not
 * copied on the host, and what the plan maps or manages is not copied at all.
 *
 * The arena's slots are page-locked where they are, if the GPU can do that; else mapped ones get page-locked memory of
 * their own. Every copy of a managed one is an allocation, as memory changes hands whole: a stage of the processor
 * fills one while the GPU has another. A captured graph has fixed addresses, and frames take a slot's copies by turns:
 * there is a graph for each of the ways in which the copies of all these slots meet.
 */
#ifndef RUNTIME_GPU_SLOTS_H
#define RUNTIME_GPU_SLOTS_H

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

enum { IG_GPU_COPIES = 8, IG_GPU_PHASES = 24 }; /* the most of a slot; the most graphs. Beyond, frames are copied */

struct ig_gpu_reach {                  /* how the GPU reaches an end in its slot */
    int32_t direct;                    /* 0: it does not */
    void *block;                       /* memory of its own, or NULL */
    struct ig_gpu_end copies[IG_GPU_COPIES];
};

struct ig_gpu_range {                  /* of the arena, bytes; none: from >= to */
    int64_t from, to;
};

struct ig_gpu_slots {
    struct ig_gpu *gpu;
    const struct ig_gpu_stage *stage;
    const struct ig_pipe *pipe;
    char *arena;
    void *registered;                  /* of the arena, or NULL; the first of several alternatives gives it back */
    ig_cuda_address registered_device; /* of it, or 0: copies only */
    int32_t n_phases, phase;           /* graphs, 0: frames go through the staging; the next frame's */
    int32_t phases;                    /* graphs that these slots would take */
    ig_cuda_graph graphs[IG_GPU_PHASES];
    ig_cuda_exec execs[IG_GPU_PHASES];
    struct ig_gpu_reach reach[2 * IG_GPU_EDGES]; /* of the plan's inputs, then its outputs */
};

/*
 * Before the pipeline starts, which then has `place` and `place_arg` (runtime/pipeline.h): `arena` is the one it will
 * have. ig_gpu_close gives all of it back, behind the pipeline's stop. 0, or -1 with `why`: the GPU failed.
 */
int ig_gpu_slots_open(struct ig_gpu_slots *s, struct ig_gpu *gpu, const struct ig_gpu_stage *stage, const struct ig_pipe *pipe,
                      void *arena, char *why, size_t bytes);
/*
 * The same of alternatives, which have slots in common: choose for all, which widens the range, lock it for the first, then
 * open each. Slots stay in the arena: there is no `place`, and what cannot be used there is copied.
 */
void ig_gpu_slots_choose(struct ig_gpu_slots *s, struct ig_gpu *gpu, const struct ig_gpu_stage *stage, const struct ig_pipe *pipe,
                         void *arena, struct ig_gpu_range *range);
void ig_gpu_slots_lock(struct ig_gpu_slots *s, const struct ig_gpu_range *range);
int ig_gpu_slots_open_locked(struct ig_gpu_slots *s, const struct ig_gpu_slots *first, char *why, size_t bytes);
/* A pipeline's `place`; `slots` is a struct ig_gpu_slots. */
char *ig_gpu_slot_place(void *slots, int32_t slot, int32_t copy);
/* One frame, whose ends are inputs[] and outputs[]: in the slots, or wherever they are. 0, or -1 with `why`. */
int ig_gpu_slots_run(struct ig_gpu_slots *s, const void *const *inputs, void *const *outputs, char *why, size_t bytes);

#endif
