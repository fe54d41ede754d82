/* What copies of page-locked memory to a GPU and from it take. */
#ifndef BENCH_GPU_COPIES_H
#define BENCH_GPU_COPIES_H

#include "planner/plan.h"
#include "runtime/gpu/gpu.h"

/* `to` stays as it is where there is no memory, and becomes unknown where they fail or no line fits. */
void ig_gpu_time_copies(const struct ig_gpu *g, struct ig_gpu_copies *to);

#endif
