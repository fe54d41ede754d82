/* Layers of one kernel each on tensors that no cache holds: what share of a copy's rate the GPU's kernels reach. */
#ifndef BENCH_GPU_WIDE_H
#define BENCH_GPU_WIDE_H

#include "bench/gpu/gpu.h"

struct ig_gpu_wide {
    const char *only;    /* layers whose name begins so; NULL: all */
    int scale;           /* extents of 512 and more are divided by it: 1, or up to 64 for a test */
    int repeats, runs;   /* as ig_gpu_profile has them */
    int all;             /* 1: a line that begins with # for every kernel, not for each layer's fastest alone */
    ig_gpu_wrong *wrong; /* as ig_gpu_profile has it; layers are all named "layer" */
};

/*
 * Prints a JSON object a layer, and one of the least share at the end. 0, or -1 with a line in err: a layer fails, or
 * has no right kernel; the others are timed all the same, and of several such all but the last say so on stderr.
 */
int ig_gpu_wide(const void *const *modules, const struct ig_gpu_wide *how, char *err, unsigned long err_bytes);

#endif
