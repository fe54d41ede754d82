/* What a GPU can do at most: the measure of its kernels. */
#ifndef BENCH_GPU_LIMITS_H
#define BENCH_GPU_LIMITS_H

#include "graph/graph.h"
#include "runtime/gpu/gpu.h"

struct ig_gpu_limits {
    double flops; /* a ns: fused multiply-adds of all lanes at the highest clock, each two; 0: not known */
    double copy;  /* bytes a ns, read and written, of a copy within its memory, as timed; 0: could not be */
};

/* Of the GPU that is open. */
struct ig_gpu_limits ig_gpu_limits(const struct ig_gpu *g);
/* Bytes of a node's operands and results, each once, but the image of a large instance norm twice; of slices, gathers and choices, of what they read. */
double ig_gpu_moved(const struct ig_graph *g, const struct ig_node *n);

#endif
