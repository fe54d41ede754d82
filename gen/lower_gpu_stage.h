/*
 * The GPU's stage of a plan with stages -> launches and places in the slots (runtime/gpu/stage.h). The plan of the CPU has
 * kernels for all steps and says where tensors are in its slots; those of the GPU's are another plan's, of the same graph
 * and without stages, of which only that stage's steps are run.
 *
 * Where the plan has alternatives each has launches of its own, but all have the same weights: those of every step that is
 * the GPU's in any of them. All launches have an arena of the same size.
 */
#ifndef GEN_LOWER_GPU_STAGE_H
#define GEN_LOWER_GPU_STAGE_H

#include "gen/lower_gpu.h"
#include "runtime/gpu/stage.h"

struct ig_gpu_stage_lowered {
    struct ig_lowered *lowered;       /* of the stage's steps alone */
    struct ig_lowered *weights;       /* whose its weights are: itself, or of alternatives the first one's */
    struct ig_gpu_lowered *launches;
    struct ig_gpu_place *places;      /* of the launches' inputs, then outputs */
    struct ig_gpu_stage stage;        /* of these */
    struct ig_gpu_stage_lowered **others; /* of the first of several: the other alternatives */
    int32_t n_others;
    struct ig_plan own, whole;        /* its part of the GPU's plan; of the first: of all alternatives */
};

/*
 * `gpu` is to live as long as the result; `staged` is the CPU's. NULL with a line in err.
 */
struct ig_gpu_stage_lowered *ig_lower_gpu_stage(const struct ig_graph *g, const struct ig_plan *staged, const struct ig_plan *gpu,
                                                char *err, size_t err_bytes);
/* The same of a plan with alternatives, whose tables for the CPU are `cpu`. */
struct ig_gpu_stage_lowered *ig_lower_gpu_stages(const struct ig_lowered *cpu, const struct ig_plan *gpu, char *err,
                                                 size_t err_bytes);
void ig_gpu_stage_lowered_free(struct ig_gpu_stage_lowered *l);

#endif
