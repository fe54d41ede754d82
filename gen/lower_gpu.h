/* A lowered plan whose kernels are all the GPU's -> launches, in memory (runtime/gpu/gpu.h). */
#ifndef GEN_LOWER_GPU_H
#define GEN_LOWER_GPU_H

#include "gen/lower.h"
#include "runtime/gpu/gpu.h"

struct ig_gpu_lowered {
    struct ig_gpu_plan plan;          /* points into the arrays below; fatbin NULL. Constants are the model's weights */
    struct ig_gpu_call *calls;
    uint64_t (*params)[IG_GPU_WORDS]; /* of calls */
    const char *functions[IG_GPU_FUNCTIONS];
    int32_t *first;                   /* call of every step; one more behind the last */
    struct ig_gpu_copy *copies;       /* inputs, then outputs: behind the plan's arena, in the order of ONNX; of a part the
                                         edges */
    struct ig_gpu_copy *edges;        /* of a part: those in, then those out */
};

struct ig_gpu_edge {                  /* a tensor that a part of a network has from outside, or leaves there, or both */
    const struct ig_shape *shape;
    int in, out;
    int32_t kind;                     /* enum ig_pass_kind */
};

/*
 * NULL with one line in err: a layer that no GPU kernel computes. `l` must outlive the result. Inputs and outputs pass as
 * the plan says.
 */
struct ig_gpu_lowered *ig_lower_gpu(const struct ig_lowered *l, char *err, size_t err_bytes);
/*
 * The same of a part: `l` names the edges as inputs, and those that are not in as outputs, by their numbers; first those
 * that are in. The plan's inputs are the edges in, its outputs the edges out.
 */
struct ig_gpu_lowered *ig_lower_gpu_part(const struct ig_lowered *l, const struct ig_gpu_edge *edges, int32_t n,
                                         char *err, size_t err_bytes);
/* The IG_GPU_ADDRESS of an operand of a step; 0: it has no place. */
uint64_t ig_gpu_address_of(const struct ig_gpu_lowered *l, const struct ig_place *place);
void ig_gpu_lowered_free(struct ig_gpu_lowered *l);

#endif
