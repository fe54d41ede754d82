/*
 * The GPU's stage of a plan with stages -> launches and places in the slots (runtime/gpu/stage.h). The plan of the CPU has
 * kernels for all steps and says where tensors are in its slots; those of the GPU's are another plan's, of the same graph
 * and without stages, of which only that stage's steps are run.
 */
#ifndef GEN_LOWER_GPU_STAGE_H
#define GEN_LOWER_GPU_STAGE_H

#include "gen/lower_gpu.h"
#include "runtime/gpu/stage.h"

struct ig_gpu_stage_lowered {
    struct ig_lowered *lowered;       /* of the stage's steps alone, as are its weights */
    struct ig_gpu_lowered *launches;
    struct ig_gpu_place *places;      /* of the launches' inputs, then outputs */
    struct ig_gpu_stage stage;        /* of these */
};

/*
 * `gpu` is changed, and is to live as long as the result; `staged` is the CPU's. NULL with a line in err.
 */
struct ig_gpu_stage_lowered *ig_lower_gpu_stage(const struct ig_graph *g, const struct ig_plan *staged, struct ig_plan *gpu,
                                                char *err, size_t err_bytes);
void ig_gpu_stage_lowered_free(struct ig_gpu_stage_lowered *l);

#endif
