/*
 * The GPU half of the kernel contract: from a call to the launches that compute it.
 *
 * A GPU kernel is a registry entry as any (kernels_cpu/kernel.h), of the ISA "cuda": `supports`, `pack` and `scratch`
 * answer the same questions, the weights that `pack` makes and the scratch lie in device memory. Instead of being
 * called for a range it is launched for a whole image. Its `launch` runs when the plan is made: it is given the call
 * with device addresses and fills a few launches, each a function of the module, a grid, and one struct of parameters
 * by value whose pointers come first. So the generator can write launches as constant tables: every pointer is a place
 * in a region, to which a program adds the region's address once, when it starts.
 *
 * What a CPU kernel promises holds here too: nothing outside the output is written, nothing outside the operands'
 * elements is read, operands may be slices (explicit strides) that are aligned to an element only - `launch` sees the
 * addresses and takes functions with vector loads where these allow it, which give the same bits.
 */
#ifndef KERNELS_GPU_KERNEL_H
#define KERNELS_GPU_KERNEL_H

#include "kernels_cpu/kernel.h"

enum {
    IG_GPU_WHOLE = 1 << 30, /* row_tile of GPU kernels: only whole images */
    IG_GPU_LAUNCHES = 3,    /* most launches of one call, of which each may be done over and over */
    IG_GPU_TURNS = 1 << 14, /* most times */
    IG_GPU_PARAMS = 256     /* most bytes of parameters */
};

struct ig_gpu_launch {
    const char *function;   /* of the module, a constant string */
    uint32_t grid[3];       /* blocks */
    uint32_t block;         /* threads */
    uint32_t pointers;      /* how many 8-byte words of params are device addresses; the first ones */
    uint32_t bytes;         /* of params */
    uint32_t turns;         /* how many times it is done, one behind the other; if more than once, the int32 behind the pointers counts them from 0 */
    _Alignas(8) unsigned char params[IG_GPU_PARAMS];
};

/* Fills up to IG_GPU_LAUNCHES launches, in order; returns how many. `scratch`: device address, 64-byte aligned. */
typedef int ig_gpu_launch_fn(const struct ig_call *call, void *scratch, struct ig_gpu_launch *to);

struct ig_gpu_kernel {
    const char *name;       /* of the registry's entry */
    ig_gpu_launch_fn *launch;
};

/* The launcher of the registry's kernel `name`; NULL if that is no GPU kernel. */
ig_gpu_launch_fn *ig_gpu_launcher(const char *name);

#endif
