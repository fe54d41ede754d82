/*
 * A hosted program that carries a plan for a GPU beside the CPU's. It looks for the GPU when it starts; without one it
 * says so in a line and runs the CPU's plan, unless --gpu=require forbids that. --gpu=off does not look.
 */
#ifndef RUNTIME_HOST_GPU_H
#define RUNTIME_HOST_GPU_H

#include "runtime/gpu/gpu.h"
#include "runtime/host/program.h"

struct ig_gpu_program {            /* filled by the generated main file */
    const struct ig_gpu_plan *plan;
    const void *constants;         /* linked in, or NULL: appended to the program's file */
    uint64_t constants_hash;
    const struct ig_layer *layers; /* n_layers */
    const int32_t *first;          /* launch of every layer; one more behind the last */
    int32_t n_layers;
    const char *chips;             /* that there is code for: "62,72" */
    const char *plan_sha256;
};

/* As ig_main, with --gpu; `cpu`'s start is ig_gpu_start. */
int ig_gpu_main(int argc, char **argv, const struct ig_program *cpu, const struct ig_gpu_program *gpu);

#endif
