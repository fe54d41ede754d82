/*
 * A hosted program that carries a plan for a GPU beside the CPU's. It looks for the GPU when it starts; without one it
 * says so in a line and runs the CPU's plan, unless --gpu=require forbids that. --gpu=off does not look.
 */
#ifndef RUNTIME_HOST_GPU_H
#define RUNTIME_HOST_GPU_H

#include "runtime/gpu/stage.h"
#include "runtime/host/program.h"

struct ig_gpu_program {            /* filled by the generated main file */
    const struct ig_gpu_plan *plan;
    const void *constants;         /* linked in, or NULL: appended to the program's file */
    uint64_t constants_hash;
    const struct ig_layer *layers; /* n_layers */
    const int32_t *first;          /* launch of every layer; one more behind the last */
    int32_t n_layers;
    const char *chips;             /* that there is code for: "62,72" */
    const char *ptx;               /* chip from which on there is PTX, for drivers that do not take the code: "62"; or NULL */
    const char *plan_sha256;
    const struct ig_gpu_stage *stage; /* of the program's pipeline, whose plan that is, then those of its other
                                         alternatives; NULL: it is the whole network's */
};

/* As ig_main, with --gpu; `cpu`'s start is ig_gpu_start. */
int ig_gpu_main(int argc, char **argv, const struct ig_program *cpu, const struct ig_gpu_program *gpu);
/* The same of a program whose pipeline has a stage on the GPU: `cpu`'s start is ig_gpu_stages_start. */
int ig_gpu_stages_main(int argc, char **argv, const struct ig_program *cpu, const struct ig_gpu_program *gpu);

/* The open GPU, or NULL: after a line that says why, or without one where it was not to look. Dies where it must be there. */
struct ig_gpu *ig_gpu_look(void);
/* Closes it, behind all that were opened beside it. */
void ig_gpu_shut(void);
/* The one that was opened so; NULL: none. */
const struct ig_gpu *ig_gpu_in_use(void);
/* Of the command line's program; and were threads asked for? */
const struct ig_gpu_program *ig_gpu_program_of(int *threads);

#endif
