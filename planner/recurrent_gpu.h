/* What a GPU's kernels for recurrent layers take, of which most is waiting: planner/estimate.c has no place for it. */
#ifndef PLANNER_RECURRENT_GPU_H
#define PLANNER_RECURRENT_GPU_H

#include "kernels_cpu/kernel.h"

/* An estimate, ns, on a chip of the kind of sm_`sm` or the next below that is known; below all, a TX2. */
double ig_recurrent_gpu_ns(const struct ig_kernel *k, const struct ig_call *call, int32_t sm);

#endif
